// StepEvaluator: evaluates every so many steps or epochs during a training.
#ifndef TANDEM_ESTIMATOR_EVALUATION_STEP_EVALUATOR_H_
#define TANDEM_ESTIMATOR_EVALUATION_STEP_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/epoch.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// An interval of `steps` / `per` steps. This is no whole number for epochs whose last step takes batches of the next
// epoch: then an evaluation is due at the step that finishes the epoch.
struct EvalInterval {
  int64_t steps = 1;
  int64_t per = 1;

  // Returns the interval of `epochs` epochs if a step takes `batches` elements of the dataset. InvalidArgument if the
  // numbers overflow.
  static absl::StatusOr<EvalInterval> OfEpochs(int64_t epochs, const EpochLength& epoch, int64_t batches);
  // Returns whether an evaluation is due after this step. That depends on the global step alone, so that a run that
  // goes on from a checkpoint evaluates at the same steps.
  bool Due(int64_t global_step) const;
  std::string ToString() const;  // Returns, for example, "100 steps" or "37.5 steps".
};

// Evaluates the values in memory when the interval says so, and at the last step. Place it after the checkpoint saver,
// so that an evaluation that fails loses no steps.
class StepEvaluator : public SessionRunHook {
 public:
  struct Options {
    EvalInterval interval;
    // Evaluates the values in memory. Returns true to end training.
    std::function<absl::StatusOr<bool>(int64_t global_step)> evaluate;
    // Returns true if a result is recorded for the step that training starts from. There is none if a run was killed
    // between its checkpoint and its evaluation.
    std::function<absl::StatusOr<bool>(int64_t global_step)> recorded;
    // True if a signal asks the process to stop: then nothing is evaluated any more.
    std::function<bool()> signalled;
  };
  explicit StepEvaluator(Options options) : options_(std::move(options)) {}

  std::string name() const override { return "StepEvaluator"; }
  absl::Status AfterCreateSession(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  absl::Status Evaluate(RunContext& context);
  bool Signalled() const { return options_.signalled && options_.signalled(); }

  Options options_;
  // The step of the last evaluation or, before the first one, the step that training started from.
  int64_t evaluated_step_ = -1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_STEP_EVALUATOR_H_
