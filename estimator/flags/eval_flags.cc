#include "estimator/flags/eval_flags.h"

#include "absl/flags/flag.h"
#include "estimator/early_stopping.h"

ABSL_FLAG(double, eval_start_delay_secs, 120, "Seconds that an evaluator in a process of its own waits at first.");
ABSL_FLAG(double, eval_throttle_secs, 600,
          "Least seconds from the start of one evaluation to the start of the next; without --eval_every_steps and "
          "--eval_every_epochs.");
ABSL_FLAG(int64_t, eval_every_steps, 0,
          "Evaluate whenever the global step is a multiple of this number; 0: after checkpoints.");
ABSL_FLAG(int64_t, eval_every_epochs, 0, "Evaluate at the end of every so many epochs; 0: after checkpoints.");
ABSL_FLAG(int64_t, stop_if_no_decrease, 0,
          "End training when the loss of the evaluations has not decreased for so many steps; 0: never.");
ABSL_FLAG(
    int64_t, stop_every_steps, 0,
    "With --stop_if_no_decrease: look for evaluations of another process every so many steps; 0: every 60 seconds.");

namespace tandem {

void ApplyEvalFlags(EvalSpec* spec) {
  spec->start_delay_secs = absl::GetFlag(FLAGS_eval_start_delay_secs);
  spec->throttle_secs = absl::GetFlag(FLAGS_eval_throttle_secs);
  if (const int64_t steps = absl::GetFlag(FLAGS_eval_every_steps); steps != 0) spec->every_steps = steps;
  if (const int64_t epochs = absl::GetFlag(FLAGS_eval_every_epochs); epochs != 0) spec->every_epochs = epochs;
}

HookList EarlyStoppingHooks(const Estimator& estimator) {
  const int64_t steps = absl::GetFlag(FLAGS_stop_if_no_decrease);
  if (steps == 0) return {};
  EarlyStoppingOptions options;
  if (const int64_t every = absl::GetFlag(FLAGS_stop_every_steps); every != 0) options.run_every_steps = every;
  return {StopIfNoDecrease(estimator, "loss", steps, options)};
}

}  // namespace tandem
