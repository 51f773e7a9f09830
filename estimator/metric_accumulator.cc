#include "estimator/metric_accumulator.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace tandem {

std::string MetricTotalName(absl::string_view metric) { return absl::StrCat("metric/", metric, "/total"); }
std::string MetricCountName(absl::string_view metric) { return absl::StrCat("metric/", metric, "/count"); }

absl::Status MetricAccumulator::CheckName(absl::string_view metric) {
  if (metric == "loss" || metric == "global_step") {
    return absl::InvalidArgumentError(absl::StrCat("a metric must not be named \"", metric,
                                                   "\": every evaluation reports its own; choose another name"));
  }
  if (metric.empty()) return absl::InvalidArgumentError("a metric has an empty name; give it one");
  return absl::OkStatus();
}

std::vector<std::string> MetricAccumulator::fetches() const {
  std::vector<std::string> names = {"loss"};
  for (const std::string& metric : metrics_) {
    names.push_back(MetricTotalName(metric));
    names.push_back(MetricCountName(metric));
  }
  return names;
}

absl::Status MetricAccumulator::Add(const RunValues& values) {
  for (const std::string& name : fetches()) {
    if (!values.Has(name)) return absl::InternalError(absl::StrCat("the evaluation step has no output \"", name, "\""));
  }
  for (const std::string& metric : metrics_) {
    Sum& sum = sums_[metric];
    sum.total += values.Number(MetricTotalName(metric));
    sum.count += values.Number(MetricCountName(metric));
  }
  loss_sum_ += values.Number("loss") * static_cast<double>(values.examples);
  examples_ += values.examples;
  ++batches_;
  return absl::OkStatus();
}

EvalResult MetricAccumulator::Result(int64_t global_step) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EvalResult result;
  for (const std::string& metric : metrics_) {
    auto it = sums_.find(metric);
    const bool counted = it != sums_.end() && it->second.count != 0;
    result.metrics[metric] = counted ? it->second.total / it->second.count : kNone;
  }
  result.metrics["loss"] = examples_ > 0 ? loss_sum_ / static_cast<double>(examples_) : kNone;
  result.metrics["global_step"] = static_cast<double>(global_step);
  return result;
}

}  // namespace tandem
