// EvalScheduler: decides when TrainAndEvaluate evaluates.
#ifndef TANDEM_ESTIMATOR_EVALUATION_EVAL_SCHEDULER_H_
#define TANDEM_ESTIMATOR_EVALUATION_EVAL_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/hooks/clock.h"

namespace tandem {

// Evaluates after every checkpoint but the one that training starts from, unless the last evaluation began less than
// `throttle_secs` ago; and the final step always, once.
class EvalScheduler : public CheckpointSaverListener {
 public:
  struct Options {
    double throttle_secs = 600;
    std::string title = "eval";  // name of the evaluation in the log
    // Evaluates the checkpoint just saved. Returns true to end the training.
    std::function<absl::StatusOr<bool>(int64_t global_step)> evaluate;
    // True if a signal asks the process to stop: then nothing is evaluated any more.
    std::function<bool()> signalled;
    Clock clock = SystemClock();
  };
  explicit EvalScheduler(Options options) : options_(std::move(options)) {}

  absl::Status Begin(int64_t start_step) override;
  // Returns whether AfterSave would evaluate the checkpoint of this step now.
  bool WaitsFor(int64_t global_step) override;
  absl::StatusOr<bool> AfterSave(int64_t global_step) override;
  absl::Status End(int64_t global_step) override;

  // The step evaluated last; -1 if none was.
  int64_t evaluated_step() const { return evaluated_step_; }
  int64_t evaluations() const { return evaluations_; }

 private:
  absl::StatusOr<bool> Evaluate(int64_t global_step);
  // Returns the seconds until an evaluation may begin; 0 or less: now.
  double SecondsToWait() const;

  Options options_;
  int64_t start_step_ = -1;
  int64_t evaluated_step_ = -1;
  int64_t evaluations_ = 0;
  double last_time_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_EVAL_SCHEDULER_H_
