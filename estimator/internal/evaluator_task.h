// EvaluatorTask: evaluates the checkpoints of a training that runs in other processes.
#ifndef TANDEM_ESTIMATOR_INTERNAL_EVALUATOR_TASK_H_
#define TANDEM_ESTIMATOR_INTERNAL_EVALUATOR_TASK_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/internal/exporter_run.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// Waits start_delay_secs, then evaluates the newest checkpoint of model_dir whenever it is a new one and the last
// evaluation began at least throttle_secs ago; each of several evaluations by itself. Ends when the file DONE exists
// and all have evaluated the checkpoint of its step, however training ended. Once DONE exists, waits are cut short.
class EvaluatorTask {
 public:
  struct Options {
    // TrainSpec.max_steps. A DONE file with reason "max_steps" and fewer steps belongs to an earlier training.
    std::optional<int64_t> max_steps = std::nullopt;
    // Seconds for which a DONE file that exists from the beginning is ignored: a training that is about to begin may
    // not have removed it yet. It is not ignored if that training would have nothing to do: the checkpoint of its step
    // exists and has max_steps.
    double distrust_done_secs = 0;
    // Stop after so many seconds without a new checkpoint, or after so many evaluations; 0: never.
    double timeout_secs = 0;
    int64_t max_evaluations = 0;
  };
  // `eval_specs`, at least one and accepted by ValidateEvalSpecs, must outlive this object.
  EvaluatorTask(Estimator& estimator, const std::vector<EvalSpec>& eval_specs, Options options);

  // Returns the last evaluations by name. Cancelled after a signal; DeadlineExceeded if the time was over before there
  // was a checkpoint; otherwise errors of Estimator::Evaluate. A checkpoint that was deleted before it was read,
  // because newer ones had been saved, is no error.
  absl::StatusOr<EvalResults> Run();

 private:
  struct Evaluation {
    Evaluation(Estimator& estimator, const EvalSpec& eval_spec);
    // True if the newest result of this evaluation is of step `step` or a later one.
    bool HasReached(int64_t step) const { return !last.empty() && last.global_step() >= step; }

    const EvalSpec& spec;
    const EvaluateOptions options;
    ExporterRun exporters;
    std::string evaluated;  // the path of the checkpoint that was evaluated last
    EvalResult last;
    double due = 0;  // time, in seconds, from which the evaluation may be made again
  };

  absl::StatusOr<EvalResults> EvaluateToTheEnd();
  absl::Status FindMistakes();
  double Now() const { return estimator_.config().file_env()->MonotonicSeconds(); }
  // Waits until `seconds` are over or training has ended; Cancelled after a signal.
  absl::Status Wait(double seconds);
  // Returns the step at which training has ended; nothing while it has not. A DONE file of an earlier training is
  // ignored.
  absl::StatusOr<std::optional<int64_t>> FinalStep();
  // True if a training up to max_steps would have nothing to do, because the last step is trained already.
  absl::StatusOr<bool> NothingToTrain(const DoneMarker& done) const;
  // Evaluates and exports the newest checkpoint, unless this evaluation has evaluated it already. Returns whether it
  // did.
  absl::StatusOr<bool> EvaluateNewest(Evaluation& evaluation);
  // Calls EvaluateNewest for all evaluations that are due or, with `all`, for all. Returns whether any was made.
  absl::StatusOr<bool> EvaluateWhatIsDue(bool all);
  bool AllHaveReached(int64_t step) const;
  // After training has ended: true if there is a checkpoint that one of the evaluations has not evaluated.
  absl::StatusOr<bool> IsBehind() const;
  double FirstDue() const;
  void SayThatThereIsNone();

  Estimator& estimator_;
  const std::vector<EvalSpec>& eval_specs_;
  std::deque<Evaluation> evaluations_;  // one for each of eval_specs_
  const Options options_;
  double began_ = 0, found_ = 0;   // times, in seconds, when Run began and when it found the last new checkpoint
  std::optional<DoneMarker> old_;  // content of the DONE file that existed when Run began
  // when the log last said that there is no new checkpoint; seconds of the environment's clock
  std::optional<double> said_at_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_EVALUATOR_TASK_H_
