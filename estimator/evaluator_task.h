// EvaluatorTask: evaluates the checkpoints of a training in other processes.
#ifndef TANDEM_ESTIMATOR_EVALUATOR_TASK_H_
#define TANDEM_ESTIMATOR_EVALUATOR_TASK_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/done_marker.h"
#include "estimator/exporter_run.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// Waits start_delay_secs, then evaluates the newest checkpoint of model_dir whenever there is a new one and the last
// evaluation began throttle_secs ago; each of several evaluations by itself. Ends when the file DONE is there and all
// have evaluated the checkpoint of its step, however training ended; what it still waits for is cut short then.
class EvaluatorTask {
 public:
  struct Options {
    // Of the training. A marker of fewer steps that it would not stop at is of an earlier one.
    std::optional<int64_t> max_steps = std::nullopt;
    // For so long a marker that is there from the beginning is not believed: the training that is about to begin has
    // not removed it yet. Unless that training would find nothing to do: the marker's checkpoint is there and has
    // max_steps.
    double distrust_done_secs = 0;
    // Ends where no new checkpoint has come for so long, and after so many evaluations; 0: never.
    double timeout_secs = 0;
    int64_t max_evaluations = 0;
  };
  // `eval_specs`, at least one, as ValidateEvalSpecs wants them, must outlive it.
  EvaluatorTask(Estimator& estimator, const std::vector<EvalSpec>& eval_specs, Options options);

  // The last evaluations, by name. Cancelled after a signal; DeadlineExceeded when the time is over before there was a
  // checkpoint; otherwise errors of Estimator::Evaluate. A checkpoint that was deleted before it was read, because
  // newer ones had been saved, is none.
  absl::StatusOr<EvalResults> Run();

 private:
  struct Evaluation {
    Evaluation(Estimator& estimator, const EvalSpec& eval_spec);
    // Whether the newest of its results is of that step or a later one.
    bool HasReached(int64_t step) const { return !last.empty() && last.global_step() >= step; }

    const EvalSpec& spec;
    const EvaluateOptions options;
    ExporterRun exporters;
    std::string evaluated;  // the path of a checkpoint
    EvalResult last;
    double due = 0;  // when it may begin again
  };

  absl::StatusOr<EvalResults> EvaluateToTheEnd();
  absl::Status FindMistakes();
  double Now() const { return estimator_.config().file_env()->MonotonicSeconds(); }
  // Until `seconds` are over or training has ended; Cancelled after a signal.
  absl::Status Wait(double seconds);
  // The step that training has ended with. A marker of an earlier training does not count.
  absl::StatusOr<std::optional<int64_t>> FinalStep();
  // Whether a training with these options would find its last step trained already.
  absl::StatusOr<bool> NothingToTrain(const DoneMarker& done) const;
  // Whether the newest checkpoint was evaluated now, and exported.
  absl::StatusOr<bool> EvaluateNewest(Evaluation& evaluation);
  // The same of all that are due, or of all without waiting.
  absl::StatusOr<bool> EvaluateWhatIsDue(bool all);
  bool AllHaveReached(int64_t step) const;
  // Training has ended: whether there is a checkpoint that one of them has not evaluated.
  absl::StatusOr<bool> IsBehind() const;
  double FirstDue() const;
  void SayThatThereIsNone();

  Estimator& estimator_;
  const std::vector<EvalSpec>& eval_specs_;
  std::deque<Evaluation> evaluations_;  // in the same order
  const Options options_;
  double began_ = 0, found_ = 0;   // when Run began, and when it found the last new checkpoint
  std::optional<DoneMarker> old_;  // there from the beginning
  std::optional<double> said_at_;  // seconds of the environment's clock
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATOR_TASK_H_
