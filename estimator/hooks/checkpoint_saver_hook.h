// CheckpointSaverHook: saves at the start, when due, and at the end of training.
//
// Steps may go on while a checkpoint is written. Listeners that wait for it are called when it is durable, and training
// does not end before that. A save that fails ends training after the step in which the failure is noticed.
#ifndef TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/estimator/hooks/clock.h"
#include "tandem/estimator/loop/session_run_hook.h"

namespace TANDEM_API tandem {

// Called around every save of a CheckpointSaverHook.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // `start_step` is the step that training starts from; a checkpoint of that step has no newly trained values.
  virtual absl::Status Begin(int64_t start_step) { return absl::OkStatus(); }
  // Called before the values are copied.
  virtual absl::Status BeforeSave(int64_t global_step) { return absl::OkStatus(); }
  // WaitsFor, AfterSave and End get the step of the checkpoint. With parameter servers it may be later than the step
  // given to BeforeSave: other workers make updates meanwhile.
  //
  // Returns true if the checkpoint must be durable when AfterSave is called for this step. If no listener returns true,
  // AfterSave may be called while the files are still being written.
  virtual bool WaitsFor(int64_t global_step) { return true; }
  // Returns true to end training.
  virtual absl::StatusOr<bool> AfterSave(int64_t global_step) { return false; }
  // Called after the last save, which is of step `global_step`.
  virtual absl::Status End(int64_t global_step) { return absl::OkStatus(); }
};

// The hook that the Estimator makes of RunConfig.save_checkpoints_steps and save_checkpoints_secs.
class CheckpointSaverHook : public SessionRunHook {
 public:
  struct Options {
    // A save is due so many steps or seconds after the last one. Exactly one must be positive.
    int64_t save_steps = 0;
    double save_secs = 0;
    // Writes the checkpoint of `global_step`, which does not exist yet. May write a later step; then it also sets the
    // context's global step to it.
    std::function<absl::Status(int64_t global_step)> save;
    // For a `save` that only starts writing, on a thread of its own: returns the result of the writing. With `wait`,
    // waits for its end; otherwise returns at once. Returns each result once, and OK if there is none. Null if `save`
    // has finished writing when it returns.
    std::function<absl::Status(bool wait)> finish_save = nullptr;
    // The step that training was restored from, whose checkpoint exists; -1 if there is none.
    int64_t restored_step = -1;
    // True if variables have other values than the checkpoint of restored_step, so that this step must be saved again.
    bool values_changed = false;
    std::vector<std::shared_ptr<CheckpointSaverListener>> listeners;
    Clock clock = SystemClock();
  };
  explicit CheckpointSaverHook(Options options);

  std::string name() const override { return "CheckpointSaverHook"; }
  absl::Status Begin(HookContext& context) override;
  // The first call writes the first checkpoint, because only then the AfterCreateSession of every hook has run.
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

  // For a hook that runs after this one: saves a checkpoint in that hook's AfterRun, unless this step is saved already.
  absl::Status SaveNow(RunContext& context);
  // Call after variables were assigned: a checkpoint of this step no longer has the current values.
  void NoteChange() { changed_ = true; }
  // Like SaveNow, between steps; waits until the checkpoint is written.
  absl::Status SaveAndWait(RunContext& context);

 private:
  bool Due(int64_t global_step) const;
  // True if the values of `global_step` are in the last checkpoint.
  bool IsSaved(int64_t global_step) const { return global_step == saved_step_ && !changed_; }
  absl::Status FinishSave(bool wait) { return options_.finish_save ? options_.finish_save(wait) : absl::OkStatus(); }
  absl::Status Save(RunContext& context);

  Options options_;
  bool started_ = false;
  // True if variables were assigned since the last save, other than by a training step.
  bool changed_ = false;
  // True after a step that was not finite has changed variables. Then no variable can be trusted any more, and nothing
  // is saved.
  bool tainted_ = false;
  int64_t saved_step_ = -1;
  double saved_time_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_
