// KeepBest: which checkpoints are kept because of their evaluations.
#ifndef TANDEM_ESTIMATOR_CONFIG_KEEP_BEST_H_
#define TANDEM_ESTIMATOR_CONFIG_KEEP_BEST_H_

#include <optional>
#include <string>

#include "tandem/base/api.h"
#include "tandem/estimator/config/metric_direction.h"

namespace TANDEM_API tandem {

// Keeps the checkpoints of the best evaluations from being deleted.
struct KeepBest {
  // A number that the evaluations give: "loss", or a metric of EstimatorSpec::Eval.
  std::string metric = "loss";
  // Whether smaller or larger values are better. If not set, kMin for "loss"; must be set for any other metric.
  std::optional<MetricDirection> direction = std::nullopt;
  // Only evaluations with this name (EvalSpec.name) count.
  std::string evaluation = "";
  // How many checkpoints are kept besides the newest ones.
  int count = 1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_KEEP_BEST_H_
