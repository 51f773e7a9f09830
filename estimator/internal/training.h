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

// Prepare, Run and End work like those of StepLoop. If End is not called, as after an error, the writing of files that
// has begun is still finished. The estimator must outlive this object.
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
  // Call between two steps: saves a checkpoint and waits until it is written. Does nothing on a worker that is not the
  // chief.
  absl::Status Save();
  absl::Status End();
  const BatchDealer& dealer() const { return *prepared_.dealer; }
  // Once the training makes no more steps and saves and calls the hooks' End, returns why it ends. Returns nothing
  // before.
  std::optional<StopReason> ending() const { return ending_; }
  // Call after variables were assigned: the last checkpoint no longer has their values.
  void NoteChange();

 private:
  Training(Estimator::Impl* estimator, const TrainOptions& options);
  absl::Status CheckCall();
  absl::StatusOr<bool> Begin(const InputFn& input_fn);
  void LogModel() const;
  // Returns the runner that makes the steps: the program's own, inside of those that exchange values with parameter
  // servers, make steps twice to compare their bits, and record steps, as far as the training uses them.
  StepRunner* MakeRunner();
  absl::Status GoOnWithJob();
  LoopOptions MakeLoopOptions();
  void LogEnd(const LoopResult& result);

  // Defined in training_hooks.cc.
  HookList MakeHooks(int64_t restored_step, const HookList& evaluations = {});

  // The following are defined in training_state.cc.
  //
  // Returns the checkpoint that the training goes on from; all workers get the one that the chief reads. Returns
  // nothing if the training starts from values in memory or from initial values.
  absl::StatusOr<std::optional<CheckpointData>> StartingPoint();
  // Sets variables, seed, step and input position: to those of the checkpoint `start` or, if there is none, to those at
  // the end of the earlier training in this process, or to initial ones.
  absl::Status StartFrom(const std::optional<CheckpointData>& start);
  absl::Status StartFromCheckpoint(const CheckpointData& start);
  absl::Status RestorePosition(const std::string& position, const std::string& saved_data);
  // Copies the values and starts writing the checkpoint, which goes on during the next steps. FinishSave returns the
  // result.
  absl::Status SaveStep(int64_t step);
  absl::Status FinishSave(bool wait);

  // The following are defined in training_record.cc.
  //
  // Returns a runner that calls `runner` and records its steps in model_dir; null if nothing is to be recorded.
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
  std::string data_fingerprint_;  // fingerprint of the input's data; may be empty
  bool other_data_ = false;       // true: the data are not those that the restored checkpoint was trained with
  std::optional<ResidentState::TrainingScope> scope_;
  std::unique_ptr<StepRunner> served_runner_;     // null unless there are parameter servers
  std::unique_ptr<StepRunner> checking_runner_;   // null unless check_steps_every is set
  std::function<void()> describe_run_;            // writes the description of the run; null if there is none to write
  std::unique_ptr<StepRunner> recording_runner_;  // null if steps are not recorded
  HookList hooks_;
  std::shared_ptr<CheckpointSaverHook> saver_;  // null unless this is the chief and checkpoints are on
  BackgroundSave saving_;
  std::optional<StepLoop> loop_;
  std::optional<StopReason> ending_;
  // True if this training goes on with an interrupted job, which may have used up its input. Then the input is not
  // started again.
  bool keeps_end_ = false;
  bool stepped_ = false;
  // Null if there is nothing to watch, or if this worker is not the one that warns.
  std::unique_ptr<WatchedValues> watched_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_TRAINING_H_
