// Flags of the samples that call TrainAndEvaluate.
#ifndef TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_
#define TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_

#include "tandem/base/api.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/train_and_evaluate.h"

namespace TANDEM_API tandem {

// Sets when evaluations are made, from --eval_start_delay_secs, --eval_throttle_secs, --eval_every_steps and
// --eval_every_epochs. EvalSpec::Validate checks the values and their combination.
void ApplyEvalFlags(EvalSpec* spec);

// Returns the hook for --stop_if_no_decrease and --stop_every_steps; none by default. The estimator must outlive it.
HookList EarlyStoppingHooks(const Estimator& estimator);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_
