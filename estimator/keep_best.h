// Which evaluations are the best.
#ifndef TANDEM_ESTIMATOR_KEEP_BEST_H_
#define TANDEM_ESTIMATOR_KEEP_BEST_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Which values of a metric are the better ones.
enum class MetricDirection { kMin, kMax };

// "min", "max".
inline absl::string_view Name(MetricDirection direction) { return direction == MetricDirection::kMin ? "min" : "max"; }
// NaN is never better, and everything is better than NaN.
inline bool IsBetter(double value, double other, MetricDirection direction) {
  return direction == MetricDirection::kMin ? value < other || (value == value && other != other)
                                            : value > other || (value == value && other != other);
}

// The checkpoints of the best evaluations stay.
struct KeepBest {
  // A number that the evaluations give: "loss", or a metric of EstimatorSpec::Eval.
  std::string metric = "loss";
  MetricDirection direction = MetricDirection::kMin;
  // The evaluations with this name (EvalSpec.name) count.
  std::string evaluation = "";
  // How many checkpoints stay, besides the newest ones.
  int count = 1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KEEP_BEST_H_
