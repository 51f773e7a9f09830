// Training: one training of an Estimator, step by step.
#ifndef TANDEM_ESTIMATOR_TRAINING_H_
#define TANDEM_ESTIMATOR_TRAINING_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/estimator_impl.h"
#include "estimator/parameter_server/served_runner.h"
#include "estimator/run_loop.h"
#include "estimator/signals.h"

namespace tandem {

// Prepare, Run and End are those of StepLoop. Without an End, as after an error, what was begun is still written. The
// estimator must outlive it.
class Training {
 public:
  // Brings the model to where training begins. Null when there is nothing to do: programs are compiled only, or
  // max_steps is reached.
  static absl::StatusOr<std::unique_ptr<Training>> Start(Estimator::Impl* estimator, const InputFn& input_fn,
                                                         const TrainOptions& options);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  absl::StatusOr<bool> Prepare() { return loop_->Prepare(); }
  absl::StatusOr<RunValues> Run() { return loop_->Run(); }
  void RequestStop() { loop_->RequestStop(); }
  // Between two steps: a checkpoint, which is there when this returns. Nothing where another worker is the chief.
  absl::Status Save();
  absl::Status End();
  const BatchDealer& dealer() const { return *prepared_.dealer; }

 private:
  Training(Estimator::Impl* estimator, const TrainOptions& options);
  absl::Status CheckCall();
  absl::StatusOr<bool> Begin(const InputFn& input_fn);
  absl::Status GoOnWithJob();
  LoopOptions MakeLoopOptions();

  Estimator::Impl& estimator_;
  const TrainOptions options_;
  std::optional<SignalGuard> guard_;
  std::shared_ptr<FileLock> lock_;
  Estimator::Impl::Prepared prepared_;
  std::optional<ResidentState::TrainingScope> scope_;
  std::unique_ptr<ServedRunner> served_runner_;   // null without parameter servers
  std::unique_ptr<StepRunner> checking_runner_;   // null where no step is made twice
  std::unique_ptr<StepRunner> recording_runner_;  // null where nothing is recorded
  std::optional<StepLoop> loop_;
  bool keeps_end_ = false;  // an interrupted job's, which may be at the end of its input
  bool stepped_ = false;
  std::unique_ptr<WatchedValues> watched_;  // null where nothing is watched, or another worker says it
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRAINING_H_
