// Training: one training of an Estimator, made step by step.
#ifndef TANDEM_ESTIMATOR_INTERNAL_TRAINING_H_
#define TANDEM_ESTIMATOR_INTERNAL_TRAINING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/loop/background_save.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/signals.h"

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
  // Why the training makes no further step, while it saves and ends; nothing while it makes steps.
  std::optional<StopReason> ending() const { return ending_; }
  // Says that variables have been assigned, so that they are not those of the last checkpoint.
  void NoteChange();

 private:
  Training(Estimator::Impl* estimator, const TrainOptions& options);
  absl::Status CheckCall();
  absl::StatusOr<bool> Begin(const InputFn& input_fn);
  void LogModel() const;
  // Makes the runner of the steps: the program's, with what stands between it and the loop.
  StepRunner* MakeRunner();
  absl::Status GoOnWithJob();
  LoopOptions MakeLoopOptions();
  void LogEnd(const LoopResult& result);

  // training_hooks.cc
  HookList MakeHooks(int64_t restored_step, const HookList& evaluations = {});

  // training_state.cc
  // Returns the checkpoint that the training goes on from, the chief's on all workers; nothing if it starts from values
  // in memory or first values.
  absl::StatusOr<std::optional<CheckpointData>> StartingPoint();
  // Sets variables, seed, step and input position: from the checkpoint, from the earlier training in this process, or
  // anew.
  absl::Status StartFrom(const std::optional<CheckpointData>& start);
  absl::Status StartFromCheckpoint(const CheckpointData& start);
  absl::Status RestorePosition(const std::string& position, const std::string& saved_data);
  // Takes a snapshot and starts writing it; writing goes on during the next steps (CheckpointSaverHook's finish_save).
  absl::Status SaveStep(int64_t step);
  absl::Status FinishSave(bool wait);

  // training_record.cc
  // Returns a runner that records in model_dir the steps that `runner` makes; null if nothing is to be recorded.
  // `runner` must outlive it.
  std::unique_ptr<StepRunner> RecordSteps(StepRunner* runner);
  // Writes the description of the run that RecordSteps has prepared, once.
  void DescribeRun();
  void WriteDescription(int64_t step, const std::string& input) const;

  Estimator::Impl& estimator_;
  const TrainOptions options_;
  std::optional<SignalGuard> guard_;
  std::shared_ptr<FileLock> lock_;
  Estimator::Impl::Prepared prepared_;
  std::string data_fingerprint_;  // of the input; may be empty
  bool other_data_ = false;       // the data differ from those of the checkpoint that the training goes on from
  std::optional<ResidentState::TrainingScope> scope_;
  std::unique_ptr<StepRunner> served_runner_;     // null without parameter servers
  std::unique_ptr<StepRunner> checking_runner_;   // null where no step is made twice
  std::function<void()> describe_run_;            // null if there is nothing to write
  std::unique_ptr<StepRunner> recording_runner_;  // null where nothing is recorded
  HookList hooks_;
  std::shared_ptr<CheckpointSaverHook> saver_;  // null unless this is the chief and checkpoints are on
  BackgroundSave saving_;
  std::optional<StepLoop> loop_;
  std::optional<StopReason> ending_;
  bool keeps_end_ = false;  // an interrupted job may be at the end of its input, which then does not start again
  bool stepped_ = false;
  std::unique_ptr<WatchedValues> watched_;  // null if nothing is watched, or if another worker warns
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_TRAINING_H_
