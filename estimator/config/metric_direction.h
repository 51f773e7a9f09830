// MetricDirection: whether smaller or larger values of a metric are better.
#ifndef TANDEM_ESTIMATOR_CONFIG_METRIC_DIRECTION_H_
#define TANDEM_ESTIMATOR_CONFIG_METRIC_DIRECTION_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Which values of a metric are better: smaller (kMin) or larger (kMax) ones.
enum class MetricDirection { kMin, kMax };

// Returns "min" or "max".
inline absl::string_view Name(MetricDirection direction) { return direction == MetricDirection::kMin ? "min" : "max"; }
// NaN is never better, and everything is better than NaN.
inline bool IsBetter(double value, double other, MetricDirection direction) {
  return direction == MetricDirection::kMin ? value < other || (value == value && other != other)
                                            : value > other || (value == value && other != other);
}

// Returns the direction of an option; kMin, so smaller is better, if the option is not set. Only for the loss; for
// other metrics the direction must be set (DirectionProblem).
inline MetricDirection OrMin(const std::optional<MetricDirection>& direction) {
  return direction.value_or(MetricDirection::kMin);
}
// Returns a message if the direction is missing for a metric that needs one; "" if there is no problem.
std::string DirectionProblem(absl::string_view metric, const std::optional<MetricDirection>& direction);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_METRIC_DIRECTION_H_
