#include "estimator/hooks/step_counter_hook.h"

#include "absl/strings/str_format.h"
#include "base/logging.h"

namespace tandem {

absl::Status StepCounterHook::AfterCreateSession(RunContext& context) {
  last_step_ = context.global_step();
  last_time_ = clock_();
  return absl::OkStatus();
}

absl::Status StepCounterHook::AfterRun(RunContext& context, const RunValues& values) {
  const int64_t steps = context.global_step() - last_step_;
  if (steps < every_n_steps_) return absl::OkStatus();
  const double now = clock_();
  if (now > last_time_) TD_LOG(INFO) << absl::StrFormat("global_step/sec: %g", steps / (now - last_time_));
  last_step_ = context.global_step();
  last_time_ = now;
  return absl::OkStatus();
}

}  // namespace tandem
