// SessionRunHook: code of the user (and of the Estimator) that is called around every step.
#ifndef TANDEM_ESTIMATOR_LOOP_SESSION_RUN_HOOK_H_
#define TANDEM_ESTIMATOR_LOOP_SESSION_RUN_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/named_tensors.h"
#include "tandem/base/source_location.h"
#include "tandem/estimator/config/mode.h"
#include "tandem/estimator/loop/hook_state.h"
#include "tandem/estimator/loop/step_scalar_settings.h"
#include "tandem/estimator/loop/variable_access.h"

namespace TANDEM_API tandem {

// The argument of Begin, which is called before the program is compiled. Has facts about the program, and collects the
// hooks' requests for tensors.
class HookContext {
 public:
  HookContext(Mode mode, std::string model_dir, int replicas, int64_t batch_per_replica)
      : mode_(mode), model_dir_(std::move(model_dir)), replicas_(replicas), batch_per_replica_(batch_per_replica) {}

  Mode mode() const { return mode_; }
  const std::string& model_dir() const { return model_dir_; }
  int replicas() const { return replicas_; }
  int64_t batch_per_replica() const { return batch_per_replica_; }
  int64_t global_batch() const { return batch_per_replica_ * replicas_; }

  // Makes the tensor `name` (an op's name, such as "dense/Relu", or "loss") available to BeforeRun. A batched tensor is
  // returned as the concatenation over microbatches and replicas. If no tensor has the name, the Estimator's call
  // returns an error with the hook and similar names.
  void Fetch(absl::string_view name) {
    fetches_.insert(std::string(name));
    fetched_by_.emplace(std::string(name), hook_);
  }
  // The tensors that hooks have asked for.
  const std::set<std::string>& fetches() const { return fetches_; }
  // For each tensor's name, the name of the hook that asked for it first.
  const std::map<std::string, std::string>& fetched_by() const { return fetched_by_; }
  // Sets the hook whose Begin is running.
  void set_hook(std::string name) { hook_ = std::move(name); }

  // Returns the metrics' names, "loss" among them, of the evaluations named `evaluation` (EvalSpec.name) that
  // TrainAndEvaluate makes in this process. Null for other evaluations, whose metrics are not known.
  const std::vector<std::string>* evaluation_metrics(const std::string& evaluation) const {
    auto it = evaluation_metrics_.find(evaluation);
    return it == evaluation_metrics_.end() ? nullptr : &it->second;
  }
  // For the loop.
  void set_evaluation_metrics(std::map<std::string, std::vector<std::string>> metrics) {
    evaluation_metrics_ = std::move(metrics);
  }

 private:
  Mode mode_;
  std::string model_dir_;
  int replicas_;
  int64_t batch_per_replica_;
  std::set<std::string> fetches_;
  std::map<std::string, std::string> fetched_by_;
  std::string hook_;
  std::map<std::string, std::vector<std::string>> evaluation_metrics_;
};

// The state of the loop for hooks, and what they may ask the loop to do.
class RunContext {
 public:
  RunContext(Mode mode, const int64_t* global_step) : mode_(mode), global_step_(global_step) {}

  Mode mode() const { return mode_; }
  // Training steps finished so far; in AfterRun of a training step this includes the step, unless it was not finite.
  int64_t global_step() const { return *global_step_; }

  // Ends the loop after this step, when AfterRun of every hook has run. The first non-empty `why` is reported in
  // TrainResult and in the file DONE.
  void RequestStop(absl::string_view why = "") {
    stop_requested_ = true;
    if (stop_why_.empty()) stop_why_ = std::string(why);
  }
  // True if a hook has asked for the end, and its reason.
  bool stop_requested() const { return stop_requested_; }
  const std::string& stop_why() const { return stop_why_; }

  // Asks for a checkpoint in addition to the regular ones. Called in AfterRun, it is saved before the next step; called
  // in BeforeRun, after the coming step. It is not saved if that step is saved already, or after a step that was not
  // finite has changed variables. Only the chief saves: on other workers nothing happens. FailedPrecondition outside of
  // training, and if checkpoints are off.
  absl::Status RequestSave();
  // For the hook that saves: returns true if a save was requested since the last call.
  bool TakeSaveRequest() { return std::exchange(save_requested_, false); }
  // For the loop: whether this training saves checkpoints.
  void set_saves(bool saves) { saves_ = saves; }

  // Call it in AfterRun. Returns true if this step's batches were the last ones of a pass over the input, as
  // Iterator::ends_pass says (data/dataset.h); for a step with batches of two passes, if the first of them ended. With
  // Repeat (and Parts) after Batch no step has batches of two passes. To know at the last step that an epoch is over,
  // this may draw the next batch, and waits for it. All workers that share an input get the same answer. A worker with
  // an input of its own (AutoShard::kOff, kFile) gets the answer for that input, and with parameter servers a worker
  // gets that for the batches that were drawn for all workers together with its own. If the last batches of a pass have
  // no examples, no step is made of them, and no step ends the pass. Returns false outside of AfterRun.
  bool ends_pass() { return ends_pass_ && ends_pass_(); }
  // For the loop.
  void set_ends_pass(std::function<bool()> ends_pass) { ends_pass_ = std::move(ends_pass); }

  // For BeforeRun, which cannot return an error: makes the loop end with this error before the step. Of several errors
  // the first one counts.
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  // The error of Fail.
  const absl::Status& status() const { return status_; }

  // Call it in AfterRun of a step that was not finite: runs the step again with checks and returns the first op with a
  // NaN or infinity, with the user's source line. Returns "" if none is found. Workers that train together check their
  // own devices; if the op is on none of them, the text says that it is another worker's.
  absl::StatusOr<std::string> FindNonFinite() const {
    return find_non_finite_ ? find_non_finite_() : absl::StatusOr<std::string>(std::string());
  }
  // For the loop.
  void set_find_non_finite(std::function<absl::StatusOr<std::string>()> find) { find_non_finite_ = std::move(find); }

  // In training: returns the value of a step scalar for which model_fn gave a number. "learning_rate" is the rate of
  // the first optimizer, or group, that has a number, "learning_rate_1" that of the next, and so on. NotFound for other
  // names, and if the rate is a schedule.
  absl::StatusOr<double> StepScalar(absl::string_view name = "learning_rate") const;
  // Sets a step scalar. Called in BeforeRun, the value holds for this step and those after it; if the input ends
  // instead of the step, it was never set. Called in other methods, it holds from the next step on. Checkpoints store
  // the values that were set before the checkpoint was saved. A step's checkpoint is saved before AfterRun of most
  // hooks is called, so a value set in AfterRun is stored by the next checkpoint only. A value set in BeforeRun is
  // never lost. All workers must set the same. Errors: those of StepScalar; InvalidArgument for a value that is not
  // finite, and for a rate below 0.
  absl::Status SetStepScalar(absl::string_view name, double value);
  // For the loop.
  void set_step_scalars(StepScalarSettings* scalars) { step_scalars_ = scalars; }

  // In training: returns the current values, also of the optimizer's slots if they are named. Errors: those of
  // VariableAccess; FailedPrecondition outside of training, and with parameter servers, which have the variables.
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names = {},
                                             const ReadVariablesOptions& options = {}) const;
  // Sets values that the next step begins with. A moving average of an assigned variable begins anew with it, unless it
  // is assigned too. A checkpoint that was already saved at this step does not have the values: the next one has, and
  // at the end of training the last step is saved again; RequestSave asks for a checkpoint now. A step replayed with
  // --replay_step does not have them. All workers must assign the same.
  absl::Status AssignVariables(const NamedTensors& values);
  // For the loop.
  void set_variables(VariableAccess* variables) { variables_ = variables; }

  // The loop calls BeginStep before BeforeRun of the hooks. After that it calls StepIsRun if the step is made, and
  // StepIsNotRun if it is not.
  void BeginStep();
  void StepIsRun();
  void StepIsNotRun();

 private:
  Mode mode_;
  const int64_t* global_step_;
  StepScalarSettings* step_scalars_ = nullptr;  // null outside of training
  VariableAccess* variables_ = nullptr;         // null outside of training
  bool before_run_ = false;
  bool stop_requested_ = false;
  std::string stop_why_;
  bool saves_ = false, save_requested_ = false;
  absl::Status status_;
  std::function<absl::StatusOr<std::string>()> find_non_finite_;
  std::function<bool()> ends_pass_;
};

// The results of a step.
struct RunValues {
  // The tensors that the hook, or the session, has fetched in this step, with "loss" and "global_step". If the step was
  // not finite, only those that were computed before that was found, usually the loss.
  std::map<std::string, HostTensor> tensors;
  // Training steps finished before this one: 0 for the first. Does not change during an evaluation.
  int64_t step = 0;
  int64_t examples = 0;   // number of examples in the step's global batch
  double input_secs = 0;  // seconds for which the step waited for its batches
  // False if the loss or an update has a NaN or infinity. Such a step is not counted; if `applied` is false too, it
  // changed no variable.
  bool finite = true;
  bool applied = true;

  // True if the tensor was fetched.
  bool Has(absl::string_view name) const { return tensors.count(std::string(name)) > 0; }
  // Returns the first element as a double. NaN if the step was not finite and the value is not known. If the tensor was
  // not fetched, the call of the hook that uses it fails (base/user_code.h).
  double Number(absl::string_view name, SourceLocation location = SourceLocation::Current()) const;
};

// Order of the calls: Begin of all hooks -> the graph is final and compiled -> variables are initialised or restored ->
// AfterCreateSession -> for each step: BeforeRun of all hooks, the step, AfterRun of all hooks -> End.
// Within each, hooks are called in this order, as TensorFlow's Estimator orders those that it has: checkpoint saver
// (and with it evaluations after checkpoints), ReduceOnPlateau, the evaluations of every_steps or every_epochs, the
// spec's chief hooks, step counter, summaries, the hooks given to Train, stop-at-step, finite check, logging (of the
// loss, then of the spec's metrics), the spec's training hooks, progress, the saver of the best evaluation (keep_best).
// Two things differ: the first checkpoint is written in the saver's first BeforeRun, so after every AfterCreateSession;
// and the saver skips steps that were not finite, so it need not come after the check.
//
// The first error from Begin, AfterCreateSession or AfterRun ends the call at once. End runs after the last step, also
// at the end of the input and after a signal, not after an error; an error in one End does not keep others from it.
// AfterRun is not called for a BeforeRun that met the end of the input.
//
// A hook with a checkpoint_key has a state in a training's checkpoints, and a training that goes on restores it. Its
// AfterRun is called before the saver's, and SaveState after it, or in the saver's BeforeRun. BeforeRun should change
// nothing that the state must remember.
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;

  // The hook's name in error messages.
  virtual std::string name() const { return "SessionRunHook"; }
  // Called before the program is compiled.
  virtual absl::Status Begin(HookContext& context) { return absl::OkStatus(); }
  // Called when the variables have their first values, before the first step.
  virtual absl::Status AfterCreateSession(RunContext& context) { return absl::OkStatus(); }
  // Returns the names of the tensors to fetch in this step, out of those that Begin asked for.
  virtual std::vector<std::string> BeforeRun(RunContext& context) { return {}; }
  // Called after a step, with what this hook has fetched.
  virtual absl::Status AfterRun(RunContext& context, const RunValues& values) { return absl::OkStatus(); }
  // Called after the last step.
  virtual absl::Status End(RunContext& context) { return absl::OkStatus(); }

  // The name under which checkpoints store the hook's state; empty: they store none. UTF-8 without a '/', the same in
  // every run, and different for each hook.
  virtual std::string checkpoint_key() const { return ""; }
  // Called when a checkpoint is saved, on the worker that saves, and at the end of a Train, for the next one. An error
  // ends the training.
  virtual absl::StatusOr<HookState> SaveState() { return HookState(); }
  // Called before AfterCreateSession on all workers that have the hook, if the training goes on from a checkpoint, or
  // from an earlier Train in this process, that has a state under the key. The state may be of another version of the
  // hook: return an error, such as DataLoss, if it makes no sense. States of hooks that are not given stay in
  // checkpoints.
  virtual absl::Status RestoreState(const HookState& state) { return absl::OkStatus(); }
};

// The hooks of a call, in the order in which they are called.
using HookList = std::vector<std::shared_ptr<SessionRunHook>>;

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_SESSION_RUN_HOOK_H_
