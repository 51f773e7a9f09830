#include "estimator/evaluation/metric_accumulator.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "base/user_code.h"

namespace tandem {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <typename T>
void AddElements(const HostTensor& tensor, std::vector<double>& sums) {
  const T* values = tensor.data<T>();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(values[i]);
}

// Adds the elements of `tensor`, which has a number type, to `sums`.
absl::Status AddTensor(const HostTensor& tensor, std::vector<double>& sums) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      AddElements<float>(tensor, sums);
      return absl::OkStatus();
    case DType::kFloat64:
      AddElements<double>(tensor, sums);
      return absl::OkStatus();
    case DType::kInt32:
      AddElements<int32_t>(tensor, sums);
      return absl::OkStatus();
    case DType::kInt64:
      AddElements<int64_t>(tensor, sums);
      return absl::OkStatus();
    default:
      return absl::InternalError(absl::StrCat("a sum of type ", Name(tensor.dtype())));
  }
}

std::vector<std::string> QuotedNames(const MetricSums& sums) {
  std::vector<std::string> names;
  for (const auto& sum : sums) names.push_back(absl::StrCat("\"", sum.first, "\""));
  return names;
}

double Quotient(const MetricSums& sums) {
  const double count = sums.at("count")[0];
  return count != 0 ? sums.at("total")[0] / count : kNone;
}

}  // namespace

std::string MetricSumName(absl::string_view metric, absl::string_view sum) {
  return absl::StrCat("metric/", metric, "/", sum);
}

std::vector<std::string> SumsOf(const Metric& metric) {
  if (!metric.result) return {"total", "count"};
  std::vector<std::string> names;
  for (const auto& entry : metric.sums) names.push_back(entry.first);
  return names;
}

MetricAccumulator::MetricAccumulator(const std::map<std::string, Metric>& metrics) {
  for (const auto& [name, metric] : metrics) {
    metrics_[name] = {.sums = SumsOf(metric), .result = metric.result};
  }
}

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
  for (const auto& [metric, state] : metrics_) {
    for (const std::string& sum : state.sums) names.push_back(MetricSumName(metric, sum));
  }
  return names;
}

absl::Status MetricAccumulator::Add(const RunValues& values) {
  for (const std::string& name : fetches()) {
    if (!values.Has(name)) return absl::InternalError(absl::StrCat("the evaluation step has no output \"", name, "\""));
  }
  for (auto& [metric, state] : metrics_) {
    for (const std::string& sum : state.sums) {
      const HostTensor& tensor = values.tensors.at(MetricSumName(metric, sum));
      auto [shape, first] = state.shapes.emplace(sum, tensor.shape());
      if (first) state.values[sum].resize(tensor.num_elements());
      if (shape->second != tensor.shape()) {
        return absl::FailedPreconditionError(absl::StrCat("metric \"", metric, "\": its sum \"", sum, "\" has shape ",
                                                          ShapeString(tensor.shape()), " in batch ", batches_ + 1,
                                                          " and ", ShapeString(shape->second),
                                                          " before; a sum must have the same shape in every batch"));
      }
      TD_RETURN_IF_ERROR(AddTensor(tensor, state.values[sum]));
    }
  }
  loss_sum_ += values.Number("loss") * static_cast<double>(values.examples);
  examples_ += values.examples;
  ++batches_;
  return absl::OkStatus();
}

absl::StatusOr<EvalResult> MetricAccumulator::Result(int64_t global_step) const {
  EvalResult evaluated;
  for (const auto& [name, state] : metrics_) {
    if (batches_ == 0) {
      evaluated.metrics[name] = kNone;
      continue;
    }
    if (!state.result) {
      evaluated.metrics[name] = Quotient(state.values);
      continue;
    }
    // A user's own function may throw.
    const absl::StatusOr<MetricValue> computed = CallUserCode([&] { return state.result(state.values); });
    if (!computed.ok()) {
      // If it threw, the cause may be a sum that does not exist, so the message lists those that do.
      const bool threw = absl::StartsWith(computed.status().message(), "threw ");
      return Annotate(computed.status(), absl::StrCat("metric \"", name, "\": "),
                      threw ? absl::StrCat("; its sums are ", absl::StrJoin(QuotedNames(state.values), ", ")) : "");
    }
    const HostTensor& value = computed->tensor;
    if (value.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("metric \"", name, "\": its result is an empty tensor",
                                                     value.status().ok() ? "" : ": ", value.status().message()));
    }
    if (value.dtype() != DType::kFloat64) {
      return absl::InvalidArgumentError(absl::StrCat("metric \"", name, "\": its result is a tensor of type ",
                                                     Name(value.dtype()), "; return a number or a float64 tensor"));
    }
    if (value.rank() == 0) {
      evaluated.metrics[name] = *value.data<double>();
    } else {
      evaluated.arrays[name] = value;
    }
  }
  evaluated.metrics["loss"] = examples_ > 0 ? loss_sum_ / static_cast<double>(examples_) : kNone;
  evaluated.metrics["global_step"] = static_cast<double>(global_step);
  return evaluated;
}

void MetricAccumulator::Reset() {
  for (auto& [name, state] : metrics_) {
    state.shapes.clear();
    state.values.clear();
  }
  loss_sum_ = 0;
  examples_ = batches_ = 0;
}

NamedTensors MetricAccumulator::SavedSums() const {
  NamedTensors state;
  state["totals"] =
      HostTensor::FromVector<double>({3}, {loss_sum_, static_cast<double>(examples_), static_cast<double>(batches_)});
  for (const auto& [metric, of_metric] : metrics_) {
    for (const auto& [sum, values] : of_metric.values) {
      state[MetricSumName(metric, sum)] = HostTensor::FromVector<double>({static_cast<int64_t>(values.size())}, values)
                                              .Reshaped(of_metric.shapes.at(sum));
    }
  }
  return state;
}

absl::Status MetricAccumulator::RestoreSums(const NamedTensors& state) {
  const auto damaged = [](absl::string_view name) {
    return absl::DataLossError(absl::StrCat("the saved sums of metrics have no \"", name, "\", or of another type"));
  };
  Reset();
  const auto totals = state.find("totals");
  if (totals == state.end() || totals->second.dtype() != DType::kFloat64 || totals->second.num_elements() != 3) {
    return damaged("totals");
  }
  const double* numbers = totals->second.data<double>();
  loss_sum_ = numbers[0];
  examples_ = static_cast<int64_t>(numbers[1]);
  batches_ = static_cast<int64_t>(numbers[2]);
  if (batches_ == 0) return absl::OkStatus();
  for (auto& [metric, of_metric] : metrics_) {
    for (const std::string& sum : of_metric.sums) {
      const std::string name = MetricSumName(metric, sum);
      const auto saved = state.find(name);
      if (saved == state.end() || saved->second.dtype() != DType::kFloat64) {
        Reset();
        return damaged(name);
      }
      const auto values = saved->second.values<double>();
      of_metric.values[sum].assign(values.begin(), values.end());
      of_metric.shapes[sum] = saved->second.shape();
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
