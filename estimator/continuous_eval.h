// ContinuousEval: evaluates the checkpoints of a directory as they come.
#ifndef TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_
#define TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/train_and_evaluate.h"

namespace TANDEM_API tandem {

struct ContinuousEvalOptions {
  // Stop after so many seconds without a new checkpoint, or after so many evaluations; 0: never.
  double timeout_secs = 0;
  int64_t max_evaluations = 0;
};

// Evaluates the newest checkpoint in the estimator's model_dir. Then, whenever throttle_secs have passed since the last
// evaluation began, evaluates the newest checkpoint again if it is a new one. First waits start_delay_secs, unless
// training has ended. Stops when the file DONE exists and the checkpoint of its step is evaluated, or as the options
// say. Results are recorded like those of Estimator::Evaluate: if the training in that directory evaluates too, give
// them a name of their own.
//
// Returns the last evaluation. DeadlineExceeded if no checkpoint came within timeout_secs, NotFound if training has
// ended without one, Cancelled after a signal, InvalidArgument for an EvalSpec with every_steps or every_epochs (they
// are for TrainAndEvaluate). Otherwise errors of Estimator::Evaluate.
absl::StatusOr<EvalResult> ContinuousEval(Estimator& estimator, const EvalSpec& eval_spec,
                                          const ContinuousEvalOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_
