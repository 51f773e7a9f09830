// ContinuousEval: evaluates the checkpoints of a directory as they come.
#ifndef TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_
#define TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

struct ContinuousEvalOptions {
  // Ends when no new checkpoint has come for so many seconds, and after so many evaluations; 0: never.
  double timeout_secs = 0;
  int64_t max_evaluations = 0;
};

// Evaluates the newest checkpoint in the estimator's model_dir, and then each newer one that is the newest when
// throttle_secs have passed since the last evaluation began. Waits start_delay_secs at first, unless training has
// ended. Ends when the file DONE is there and its step is evaluated, or as the options say. Results are recorded as
// those of Estimator::Evaluate: where the training in that directory evaluates too, give them a name of their own.
//
// Returns the last evaluation. DeadlineExceeded when timeout_secs are over before there was a checkpoint, NotFound when
// training has ended without one, Cancelled after a signal, InvalidArgument for an EvalSpec with every_steps or
// every_epochs, which are for trainings. Otherwise errors of Estimator::Evaluate.
absl::StatusOr<EvalResult> ContinuousEval(Estimator& estimator, const EvalSpec& eval_spec,
                                          const ContinuousEvalOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONTINUOUS_EVAL_H_
