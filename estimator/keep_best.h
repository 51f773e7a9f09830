// Which evaluations are the best.
#ifndef TANDEM_ESTIMATOR_KEEP_BEST_H_
#define TANDEM_ESTIMATOR_KEEP_BEST_H_

#include <optional>
#include <string>

#include "estimator/metric_direction.h"

namespace tandem {

// The checkpoints of the best evaluations stay.
struct KeepBest {
  // A number that the evaluations give: "loss", or a metric of EstimatorSpec::Eval.
  std::string metric = "loss";
  // Which values are the better ones. For "loss" kMin unless it is set; for another metric it must be.
  std::optional<MetricDirection> direction = std::nullopt;
  // The evaluations with this name (EvalSpec.name) count.
  std::string evaluation = "";
  // How many checkpoints stay, besides the newest ones.
  int count = 1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KEEP_BEST_H_
