// SessionRunHook: code of the user (and of the Estimator) that runs around every step.
#ifndef TANDEM_ESTIMATOR_SESSION_RUN_HOOK_H_
#define TANDEM_ESTIMATOR_SESSION_RUN_HOOK_H_

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
#include "base/host_tensor.h"
#include "base/named_tensors.h"
#include "base/source_location.h"
#include "estimator/hook_state.h"
#include "estimator/mode.h"
#include "estimator/step_scalar_settings.h"
#include "estimator/variable_access.h"

namespace tandem {

// What a hook is told, and may ask for, before the program is compiled.
class HookContext {
 public:
  HookContext(Mode mode, std::string model_dir, int replicas, int64_t batch_per_replica)
      : mode_(mode), model_dir_(std::move(model_dir)), replicas_(replicas), batch_per_replica_(batch_per_replica) {}

  Mode mode() const { return mode_; }
  const std::string& model_dir() const { return model_dir_; }
  int replicas() const { return replicas_; }
  int64_t batch_per_replica() const { return batch_per_replica_; }
  int64_t global_batch() const { return batch_per_replica_ * replicas_; }

  // Makes the tensor `name` (an op's name, such as "dense/Relu", or "loss") available to BeforeRun. A batched tensor
  // comes back as the concatenation over microbatches and replicas. Names that no tensor has are reported by the
  // Estimator call, with the hook and the names that are near.
  void Fetch(absl::string_view name) {
    fetches_.insert(std::string(name));
    fetched_by_.emplace(std::string(name), hook_);
  }
  const std::set<std::string>& fetches() const { return fetches_; }
  // The name of the hook that asked first, by the tensor's name.
  const std::map<std::string, std::string>& fetched_by() const { return fetched_by_; }
  // The hook whose Begin runs.
  void set_hook(std::string name) { hook_ = std::move(name); }

  // The metrics of the evaluations named `evaluation` (EvalSpec.name), "loss" among them, that TrainAndEvaluate makes
  // in this process; null for others, whose metrics are not known.
  const std::vector<std::string>* evaluation_metrics(const std::string& evaluation) const {
    auto it = evaluation_metrics_.find(evaluation);
    return it == evaluation_metrics_.end() ? nullptr : &it->second;
  }
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

// The state of the loop, as hooks see it.
class RunContext {
 public:
  RunContext(Mode mode, const int64_t* global_step) : mode_(mode), global_step_(global_step) {}

  Mode mode() const { return mode_; }
  // Training steps finished so far; in AfterRun of a training step this one counts, unless it was not finite.
  int64_t global_step() const { return *global_step_; }

  // Ends the loop after this step, when every hook's AfterRun has run. `why`, the first that is not empty, is for
  // TrainResult and the file DONE.
  void RequestStop(absl::string_view why = "") {
    stop_requested_ = true;
    if (stop_why_.empty()) stop_why_ = std::string(why);
  }
  bool stop_requested() const { return stop_requested_; }
  const std::string& stop_why() const { return stop_why_; }

  // Has a checkpoint saved besides the rule for them: from AfterRun before the next step, from BeforeRun behind the
  // step that comes. Not again where that step is saved already, nor once a step that was not finite has changed
  // variables. The chief saves: in a cluster nothing happens on other workers. FailedPrecondition outside of training,
  // and where checkpoints are off.
  absl::Status RequestSave();
  // For the saver: whether that was asked for since the last call.
  bool TakeSaveRequest() { return std::exchange(save_requested_, false); }
  void set_saves(bool saves) { saves_ = saves; }

  // In AfterRun: whether this step's batches were the last ones of a pass over the input, as Iterator::ends_pass says
  // (data/dataset.h); of a step with batches of two passes, whether the first of them ended. With Repeat (and Parts)
  // behind Batch no step has batches of two passes. The next batch is looked for, so that an epoch is known to be over
  // without a further step; whoever does not ask does not wait for it. Workers that share an input have the same
  // answer, those with inputs of their own (AutoShard::kOff, kFile) each that of its own, and with parameter servers
  // that of the round which its batches are from. Where the last batches of a pass have no examples no step is made of
  // them, and none ends the pass. False elsewhere.
  bool ends_pass() { return ends_pass_ && ends_pass_(); }
  void set_ends_pass(std::function<bool()> ends_pass) { ends_pass_ = std::move(ends_pass); }

  // For BeforeRun, which cannot return an error: the loop ends with it before the step. The first error counts.
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  const absl::Status& status() const { return status_; }

  // In AfterRun of a step that was not finite: runs it again with checks and names the first op with a NaN or
  // infinity, with the user's source line. Empty when none is found; workers that train together look at their own
  // devices, and say that it is another's.
  absl::StatusOr<std::string> FindNonFinite() const {
    return find_non_finite_ ? find_non_finite_() : absl::StatusOr<std::string>(std::string());
  }
  void set_find_non_finite(std::function<absl::StatusOr<std::string>()> find) { find_non_finite_ = std::move(find); }

  // In training: the value of a step scalar that model_fn gave a number. "learning_rate" is the rate of the first
  // optimizer, or group, that has a number, "learning_rate_1" that of the next, and so on. NotFound for other names,
  // and where the rate is a schedule.
  absl::StatusOr<double> StepScalar(absl::string_view name = "learning_rate") const;
  // From BeforeRun for this step and those after it, if it is run: where the input ends instead, it was not set. From
  // other methods for the next steps. Checkpoints keep it. A training that goes on from a checkpoint has what was set
  // before the checkpoint was made, and the saver comes first: what a hook sets in AfterRun is in the next one. In
  // BeforeRun nothing is lost. All workers must set the same. Errors: those of StepScalar; InvalidArgument for what is
  // not finite, and for a rate below 0.
  absl::Status SetStepScalar(absl::string_view name, double value);
  void set_step_scalars(StepScalarSettings* scalars) { step_scalars_ = scalars; }

  // In training: the values between two steps, the optimizer's slots too where their names are given. Errors: those of
  // VariableAccess; FailedPrecondition outside of training, and with parameter servers, which have the variables.
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names = {},
                                             const ReadVariablesOptions& options = {}) const;
  // What the next step begins with. A moving average of an assigned variable begins anew with it, unless it is assigned
  // as well. A checkpoint that was saved at this step already has not got it: the next one has, and the one at the end
  // is saved again; RequestSave asks for one now. A step that --replay_step makes again does not have it. All workers
  // must assign the same.
  absl::Status AssignVariables(const NamedTensors& values);
  void set_variables(VariableAccess* variables) { variables_ = variables; }

  // For the loop: hooks' BeforeRun begin; the step that they were for is run, or not.
  void BeginStep();
  void StepIsRun();
  void StepIsNotRun();

 private:
  Mode mode_;
  const int64_t* global_step_;
  StepScalarSettings* step_scalars_ = nullptr;  // null outside of training
  VariableAccess* variables_ = nullptr;         // the same
  bool before_run_ = false;
  bool stop_requested_ = false;
  std::string stop_why_;
  bool saves_ = false, save_requested_ = false;
  absl::Status status_;
  std::function<absl::StatusOr<std::string>()> find_non_finite_;
  std::function<bool()> ends_pass_;
};

// What a step produced.
struct RunValues {
  // What the hook, or the session, has fetched in this step, with "loss" and "global_step"; of a step that was not
  // finite only what was known when that was found, as a rule the loss.
  std::map<std::string, HostTensor> tensors;
  // Training steps finished before this one: 0 for the first. The same in all rounds of an evaluation.
  int64_t step = 0;
  int64_t examples = 0;   // in the global batch of this step
  double input_secs = 0;  // that the step waited for its batches
  // False when the loss or an update has a NaN or infinity. Such a step is not counted, and changes no variable
  // when `applied` is false too.
  bool finite = true;
  bool applied = true;

  bool Has(absl::string_view name) const { return tensors.count(std::string(name)) > 0; }
  // The first element as a double. NaN where the step was not finite and the value is not known; what was not fetched
  // is an error of the hook that asks (base/user_code.h).
  double Number(absl::string_view name, SourceLocation location = SourceLocation::Current()) const;
};

// Order of the calls: Begin of all hooks -> the graph is final and compiled -> variables are initialised or restored ->
// AfterCreateSession -> for each step: BeforeRun of all hooks, the step, AfterRun of all hooks -> End.
// Within each, hooks are called in this order, as TensorFlow's Estimator orders those that it has: checkpoint saver
// (and with it evaluations after checkpoints), ReduceOnPlateau, the evaluations of every_steps or every_epochs, the
// spec's chief hooks, step counter, summaries, the hooks given to Train, stop-at-step, finite check, logging (of the
// loss, then of the spec's metrics), the spec's training hooks, progress, the saver of the best evaluation (keep_best).
// Two things differ: the first checkpoint is written in the saver's first BeforeRun, so after every AfterCreateSession;
// and the saver skips steps that were not finite, so it needs no place behind the check.
//
// The first error from Begin, AfterCreateSession or AfterRun ends the call at once. End runs after the last step, also
// at the end of the input and after a signal, not after an error; an error in one End does not keep others from it.
// AfterRun is not called for a BeforeRun that met the end of the input.
//
// A hook with a checkpoint_key is part of a training's checkpoints, so that a training that goes on goes on with it:
// its AfterRun comes before the saver's, and SaveState behind that, or in the saver's BeforeRun. A hook should do
// nothing in BeforeRun that its state has to remember.
class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;

  // For error messages.
  virtual std::string name() const { return "SessionRunHook"; }
  virtual absl::Status Begin(HookContext& context) { return absl::OkStatus(); }
  virtual absl::Status AfterCreateSession(RunContext& context) { return absl::OkStatus(); }
  // The names of the tensors to fetch in this step: of those that Begin asked for.
  virtual std::vector<std::string> BeforeRun(RunContext& context) { return {}; }
  virtual absl::Status AfterRun(RunContext& context, const RunValues& values) { return absl::OkStatus(); }
  virtual absl::Status End(RunContext& context) { return absl::OkStatus(); }

  // Under which name checkpoints keep the state of the hook; empty: they keep none. UTF-8 without a '/', the same in
  // every run, and of no other hook.
  virtual std::string checkpoint_key() const { return ""; }
  // Where a checkpoint is saved, on the worker that saves; and at the end of a Train, for the next one. Its error is
  // that of the training.
  virtual absl::StatusOr<HookState> SaveState() { return HookState(); }
  // Before AfterCreateSession, where the training goes on from a checkpoint, or from a Train before in this process,
  // that has a state under the key; on all workers that have the hook. The state may be of another version of the hook:
  // return an error, such as DataLoss, for one that makes no sense. A state whose hook is not there stays in
  // checkpoints.
  virtual absl::Status RestoreState(const HookState& state) { return absl::OkStatus(); }
};

using HookList = std::vector<std::shared_ptr<SessionRunHook>>;

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SESSION_RUN_HOOK_H_
