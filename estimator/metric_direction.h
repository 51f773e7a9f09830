// Which values of a metric are the better ones.
#ifndef TANDEM_ESTIMATOR_METRIC_DIRECTION_H_
#define TANDEM_ESTIMATOR_METRIC_DIRECTION_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

enum class MetricDirection { kMin, kMax };

// "min", "max".
inline absl::string_view Name(MetricDirection direction) { return direction == MetricDirection::kMin ? "min" : "max"; }
// NaN is never better, and everything is better than NaN.
inline bool IsBetter(double value, double other, MetricDirection direction) {
  return direction == MetricDirection::kMin ? value < other || (value == value && other != other)
                                            : value > other || (value == value && other != other);
}

// Options have it as std::optional: of the loss smaller values are better, of another metric it must be said.
inline MetricDirection OrMin(const std::optional<MetricDirection>& direction) {
  return direction.value_or(MetricDirection::kMin);
}
// What is wrong with a direction that is not set for this metric; empty: nothing.
std::string DirectionProblem(absl::string_view metric, const std::optional<MetricDirection>& direction);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_METRIC_DIRECTION_H_
