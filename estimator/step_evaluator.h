// Evaluations by steps or epochs, inside of a training.
#ifndef TANDEM_ESTIMATOR_STEP_EVALUATOR_H_
#define TANDEM_ESTIMATOR_STEP_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/epoch.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// Every `steps` / `per` steps. That is no whole number for epochs whose last step takes batches of the next one: then
// it is due at the step that finishes the epoch.
struct EvalInterval {
  int64_t steps = 1;
  int64_t per = 1;

  // Of `epochs` epochs, where a step takes `batches` elements of the dataset. InvalidArgument for numbers that are
  // beyond all training.
  static absl::StatusOr<EvalInterval> OfEpochs(int64_t epochs, const EpochLength& epoch, int64_t batches);
  // A function of the global step alone, so that a run that goes on evaluates at the same steps.
  bool Due(int64_t global_step) const;
  std::string ToString() const;  // "100 steps", "37.5 steps"
};

// Evaluates the values in memory when the interval says so, and at the last step. To be placed behind the checkpoint
// saver: an evaluation that fails costs no steps that were saved.
class StepEvaluator : public SessionRunHook {
 public:
  struct Options {
    EvalInterval interval;
    // Evaluates the values in memory. True asks for the end of training.
    std::function<absl::StatusOr<bool>(int64_t global_step)> evaluate;
    // Whether there is a result of the step that training starts from. A run that was killed between its checkpoint and
    // its evaluation has left none.
    std::function<absl::StatusOr<bool>(int64_t global_step)> recorded;
    // Whether a signal asks to stop: then nothing is evaluated any more.
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
  int64_t evaluated_step_ = -1;  // or that training started from
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STEP_EVALUATOR_H_
