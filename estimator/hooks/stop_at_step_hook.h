// StopAtStepHook: ends training after a number of steps.
#ifndef TANDEM_ESTIMATOR_HOOKS_STOP_AT_STEP_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_STOP_AT_STEP_HOOK_H_

#include <cstdint>
#include <string>

#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Stops after `num_steps` more steps, or when the global step is `last_step`. Set exactly one of the two.
class StopAtStepHook : public SessionRunHook {
 public:
  struct Options {
    int64_t num_steps = 0;
    int64_t last_step = 0;
  };
  explicit StopAtStepHook(Options options) : options_(options) {}

  std::string name() const override { return "StopAtStepHook"; }
  absl::Status Begin(HookContext& context) override {
    if ((options_.num_steps > 0) == (options_.last_step > 0)) {
      return absl::InvalidArgumentError("give one of num_steps and last_step, as a positive number");
    }
    return absl::OkStatus();
  }
  absl::Status AfterCreateSession(RunContext& context) override {
    first_step_ = context.global_step();
    if (Reached(context)) context.RequestStop();
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (Reached(context)) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  bool Reached(const RunContext& context) const {
    return options_.last_step > 0 ? context.global_step() >= options_.last_step
                                  : context.global_step() - first_step_ >= options_.num_steps;
  }

  Options options_;
  int64_t first_step_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_STOP_AT_STEP_HOOK_H_
