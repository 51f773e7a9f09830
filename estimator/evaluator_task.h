// EvaluatorTask: a process of its own that evaluates the checkpoints of a training in other processes.
#ifndef TANDEM_ESTIMATOR_EVALUATOR_TASK_H_
#define TANDEM_ESTIMATOR_EVALUATOR_TASK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/done_marker.h"
#include "estimator/exporter_run.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {

// Waits start_delay_secs, then evaluates the newest checkpoint of model_dir whenever there is a new one and the last
// evaluation began throttle_secs ago. Ends when the file DONE is there and the checkpoint of its step is evaluated,
// however training ended; what it still waits for is cut short then.
class EvaluatorTask {
 public:
  EvaluatorTask(Estimator& estimator, const TrainSpec& train_spec, const EvalSpec& eval_spec)
      : estimator_(estimator),
        train_spec_(train_spec),
        eval_spec_(eval_spec),
        exporters_(estimator, eval_spec.exporters) {}

  // The last evaluation. Cancelled after a signal; otherwise errors of Estimator::Evaluate. A checkpoint that was
  // deleted before it was read, because newer ones had been saved, is none.
  absl::StatusOr<EvalResult> Run();

 private:
  // Until `seconds` are over or training has ended; Cancelled after a signal.
  absl::Status Wait(double seconds);
  // The step that training has ended with. A marker of an earlier training does not count: one that is there from the
  // beginning, until start_delay_secs are over, or one of fewer steps.
  absl::StatusOr<std::optional<int64_t>> FinalStep();
  // Whether the newest checkpoint was evaluated now, and exported.
  absl::StatusOr<bool> EvaluateNewest();
  void WarnThatThereIsNone();

  Estimator& estimator_;
  const TrainSpec& train_spec_;
  const EvalSpec& eval_spec_;
  ExporterRun exporters_;
  std::optional<DoneMarker> old_;  // there from the beginning
  std::string evaluated_;          // the path of a checkpoint
  EvalResult last_;
  std::optional<double> warned_at_;  // seconds of the environment's clock
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATOR_TASK_H_
