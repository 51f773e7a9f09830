#include "estimator/evaluation/eval_scheduler.h"

#include "absl/strings/str_format.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {

absl::Status EvalScheduler::Begin(int64_t start_step) {
  start_step_ = start_step;
  evaluations_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> EvalScheduler::Evaluate(int64_t global_step) {
  last_time_ = options_.clock();
  evaluated_step_ = global_step;
  ++evaluations_;
  return options_.evaluate(global_step);
}

absl::StatusOr<bool> EvalScheduler::AfterSave(int64_t global_step) {
  if (options_.signalled && options_.signalled()) return true;
  // This checkpoint has only the weights that training started with.
  if (start_step_ == global_step) return false;
  if (const double wait = SecondsToWait(); wait > 0) {
    TD_LOG(INFO) << absl::StrFormat(
        "Skip the current checkpoint %s due to throttle secs (%g secs). The next one is due in %.0f secs.",
        options_.title, options_.throttle_secs, wait);
    return false;
  }
  return Evaluate(global_step);
}

double EvalScheduler::SecondsToWait() const {
  return evaluations_ == 0 ? 0 : last_time_ + options_.throttle_secs - options_.clock();
}

bool EvalScheduler::WaitsFor(int64_t global_step) {
  return start_step_ != global_step && SecondsToWait() <= 0 && !(options_.signalled && options_.signalled());
}

absl::Status EvalScheduler::End(int64_t global_step) {
  // The step that training started from is not evaluated: the caller looks for its recorded result.
  if (global_step == start_step_ || global_step == evaluated_step_ || (options_.signalled && options_.signalled()))
    return absl::OkStatus();
  return Evaluate(global_step).status();
}

}  // namespace tandem
