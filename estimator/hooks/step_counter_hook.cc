#include "estimator/hooks/step_counter_hook.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/logging.h"

namespace tandem {

absl::Status StepCounterHook::Begin(HookContext& context) {
  if (every_n_steps_ > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("every_n_steps must be positive, got ", every_n_steps_));
}

absl::Status StepCounterHook::AfterCreateSession(RunContext& context) {
  last_step_ = context.global_step();
  last_time_ = clock_();
  input_seconds_ = 0;
  return absl::OkStatus();
}

absl::Status StepCounterHook::AfterRun(RunContext& context, const RunValues& values) {
  input_seconds_ += values.input_secs;
  const int64_t steps = context.global_step() - last_step_;
  if (steps < every_n_steps_) return absl::OkStatus();
  const double now = clock_();
  if (const double seconds = now - last_time_; seconds > 0) {
    TD_LOG(INFO) << absl::StrFormat("global_step/sec: %g, input wait %.1f %%", steps / seconds,
                                    100 * std::min(1.0, input_seconds_ / seconds));
  }
  last_step_ = context.global_step();
  last_time_ = now;
  input_seconds_ = 0;
  return absl::OkStatus();
}

}  // namespace tandem
