// Training: one training of an Estimator, made step by step.
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

// Prepare, Run and End work like those of StepLoop. If End is not called, as after an error, writes that were begun are
// still finished. The estimator must outlive this object.
class Training {
 public:
  // Prepares the model for training. Returns null if there is nothing to do: programs are only compiled, or max_steps
  // is reached.
  static absl::StatusOr<std::unique_ptr<Training>> Start(Estimator::Impl* estimator, const InputFn& input_fn,
                                                         const TrainOptions& options);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  absl::StatusOr<bool> Prepare() { return loop_->Prepare(); }
  absl::StatusOr<RunValues> Run() { return loop_->Run(); }
  void RequestStop() { loop_->RequestStop(); }
  // Call between two steps: saves a checkpoint and waits until it is written. Does nothing if another worker is the
  // chief.
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
  bool keeps_end_ = false;  // an interrupted job may be at the end of its input, which then does not start again
  bool stepped_ = false;
  std::unique_ptr<WatchedValues> watched_;  // null if nothing is watched, or if another worker warns
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRAINING_H_
