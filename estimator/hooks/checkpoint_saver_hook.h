// CheckpointSaverHook: saves at the start, when due, and at the end of training.
//
// Steps may go on while a checkpoint is written. Listeners that wait for it hear of it when it is durable; so does
// whoever waits for the end of training; and a save that fails ends training after the step at whose end that is known.
#ifndef TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/hooks/clock.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// Called around every save of a CheckpointSaverHook.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // `start_step`: where training starts; the checkpoint saved there is no news.
  virtual absl::Status Begin(int64_t start_step) { return absl::OkStatus(); }
  virtual absl::Status BeforeSave(int64_t global_step) { return absl::OkStatus(); }
  // What follows is called with the step of the checkpoint. With parameter servers it may be a later one than
  // BeforeSave was told: others make updates meanwhile.
  //
  // Whether AfterSave of this step has to find the checkpoint durable. Where no listener says so it may come while the
  // files are still being written.
  virtual bool WaitsFor(int64_t global_step) { return true; }
  // True asks for the end of training.
  virtual absl::StatusOr<bool> AfterSave(int64_t global_step) { return false; }
  // After the last save, of step `global_step`.
  virtual absl::Status End(int64_t global_step) { return absl::OkStatus(); }
};

class CheckpointSaverHook : public SessionRunHook {
 public:
  struct Options {
    // When a save is due: so many steps or seconds after the last one. Exactly one is positive.
    int64_t save_steps = 0;
    double save_secs = 0;
    // Writes the checkpoint of `global_step`, which does not exist yet, or of a later step; then that is the context's.
    std::function<absl::Status(int64_t global_step)> save;
    // Where `save` may leave writing to a thread of its own: what came of it. Waits for the end (`wait`), or looks
    // whether it has come. Every result is given once; OK where there is none. Null: `save` does it all.
    std::function<absl::Status(bool wait)> finish_save = nullptr;
    // The step that training was restored from, whose checkpoint exists; -1 when there is none.
    int64_t restored_step = -1;
    // Whether variables have other values than in that checkpoint, so that it is saved anew.
    bool values_changed = false;
    std::vector<std::shared_ptr<CheckpointSaverListener>> listeners;
    Clock clock = SystemClock();
  };
  explicit CheckpointSaverHook(Options options);

  std::string name() const override { return "CheckpointSaverHook"; }
  absl::Status Begin(HookContext& context) override;
  // The first call writes the first checkpoint: by now the AfterCreateSession of every hook has run.
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

  // Besides the rule, for a hook that stands behind it: saves in AfterRun, unless this step is saved already.
  absl::Status SaveNow(RunContext& context);
  // Variables were assigned: what is saved of this step is not what it has now.
  void NoteChange() { changed_ = true; }
  // The same as SaveNow between steps, and waits until the checkpoint is there.
  absl::Status SaveAndWait(RunContext& context);

 private:
  bool Due(int64_t global_step) const;
  // Whether the values of `global_step` are in the last checkpoint.
  bool IsSaved(int64_t global_step) const { return global_step == saved_step_ && !changed_; }
  absl::Status FinishSave(bool wait) { return options_.finish_save ? options_.finish_save(wait) : absl::OkStatus(); }
  absl::Status Save(RunContext& context);

  Options options_;
  bool started_ = false;
  bool changed_ = false;  // since the last save, but for steps
  // A step that was not finite but had changed variables, so that none of them can be trusted any more.
  bool tainted_ = false;
  int64_t saved_step_ = -1;
  double saved_time_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_CHECKPOINT_SAVER_HOOK_H_
