// Flags of the samples that call TrainAndEvaluate.
#ifndef TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_
#define TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_

#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// Sets when evaluations come, as --eval_start_delay_secs, --eval_throttle_secs, --eval_every_steps and
// --eval_every_epochs say. EvalSpec::Validate says what goes together, and with what numbers.
void ApplyEvalFlags(EvalSpec* spec);

// The hook that --stop_if_no_decrease and --stop_every_steps ask for; none by default. The estimator must outlive it.
HookList EarlyStoppingHooks(const Estimator& estimator);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_FLAGS_EVAL_FLAGS_H_
