#include "samples/eval_flags.h"

#include "absl/flags/flag.h"

ABSL_FLAG(double, eval_start_delay_secs, 120, "Seconds that an evaluator in a process of its own waits at first.");
ABSL_FLAG(double, eval_throttle_secs, 600,
          "Least seconds from the start of one evaluation to the start of the next; without --eval_every_steps and "
          "--eval_every_epochs.");
ABSL_FLAG(int64_t, eval_every_steps, 0,
          "Evaluate whenever the global step is a multiple of this number; 0: after checkpoints.");
ABSL_FLAG(int64_t, eval_every_epochs, 0, "Evaluate at the end of every so many epochs; 0: after checkpoints.");

namespace tandem {

void ApplyEvalFlags(EvalSpec* spec) {
  spec->start_delay_secs = absl::GetFlag(FLAGS_eval_start_delay_secs);
  spec->throttle_secs = absl::GetFlag(FLAGS_eval_throttle_secs);
  if (const int64_t steps = absl::GetFlag(FLAGS_eval_every_steps); steps != 0) spec->every_steps = steps;
  if (const int64_t epochs = absl::GetFlag(FLAGS_eval_every_epochs); epochs != 0) spec->every_epochs = epochs;
}

}  // namespace tandem
