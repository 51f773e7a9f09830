#include "estimator/evaluation/metric_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/nearest_name.h"

namespace tandem {

absl::Status CheckMetricName(const std::string& metric, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), metric) != names.end()) return absl::OkStatus();
  const std::string nearest = NearestName(metric, names);
  return absl::InvalidArgumentError(
      absl::StrCat("the evaluation has no metric \"", metric, "\"; ",
                   nearest.empty() ? "it has " : absl::StrCat("did you mean \"", nearest, "\"? It has "),
                   absl::StrJoin(names, ", ")));
}

absl::StatusOr<double> MetricOf(const EvalResult& result, const std::string& metric, absl::string_view where) {
  if (auto it = result.metrics.find(metric); it != result.metrics.end()) return it->second;
  if (auto it = result.arrays.find(metric); it != result.arrays.end()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": the metric \"", metric, "\" is an array of shape ",
                                                   ShapeString(it->second.shape()), "; name one that is a number"));
  }
  std::vector<std::string> names;
  for (const auto& entry : result.metrics) {
    if (entry.first != "global_step") names.push_back(entry.first);
  }
  return Annotate(CheckMetricName(metric, names), absl::StrCat(where, ": "));
}

}  // namespace tandem
