// StepCounterHook: logs the rate of steps.
#ifndef TANDEM_ESTIMATOR_HOOKS_STEP_COUNTER_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_STEP_COUNTER_HOOK_H_

#include <cstdint>
#include <string>

#include "estimator/hooks/clock.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Logs "global_step/sec: 136.4, input wait 0.3 %" every `every_n_steps` steps. The input wait is the part of the wall
// time in which the loop waited for batches.
class StepCounterHook : public SessionRunHook {
 public:
  explicit StepCounterHook(int64_t every_n_steps = 100, Clock clock = SystemClock())
      : every_n_steps_(every_n_steps), clock_(std::move(clock)) {}

  std::string name() const override { return "StepCounterHook"; }
  absl::Status Begin(HookContext& context) override;
  absl::Status AfterCreateSession(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  int64_t every_n_steps_;
  Clock clock_;
  int64_t last_step_ = 0;
  double last_time_ = 0;
  double input_seconds_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_STEP_COUNTER_HOOK_H_
