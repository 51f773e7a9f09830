#include "estimator/train_and_evaluate.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/evaluation/eval_scheduler.h"
#include "estimator/evaluation/follows_evaluations.h"
#include "estimator/evaluation/metric_value.h"
#include "estimator/evaluation/step_evaluator.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/internal/eval_spec_list.h"
#include "estimator/internal/evaluator_task.h"
#include "estimator/internal/exporter_run.h"
#include "estimator/loop/signals.h"

namespace tandem {
namespace {

std::string DoneReason(const TrainResult& trained) {
  switch (trained.reason) {
    case StopReason::kMaxRounds:
      return "max_steps";
    case StopReason::kEndOfInput:
      return "end of input";
    default:
      return trained.stop_why.empty() ? "stop requested" : trained.stop_why;
  }
}

std::string CheckpointFrequency(const RunConfig& config) {
  return config.checkpoint_steps() > 0 ? absl::StrCat("save_checkpoints_steps ", config.checkpoint_steps())
                                       : absl::StrCat("save_checkpoints_secs ", config.checkpoint_secs());
}

}  // namespace

absl::Status TrainSpec::Validate() const {
  if (!input_fn) return absl::InvalidArgumentError("TrainSpec: input_fn is not set");
  if (max_steps.has_value() && *max_steps <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("TrainSpec: max_steps must be positive, got ", *max_steps,
                                                   "; leave it out to train to the end of the input"));
  }
  return reduce_on_plateau.has_value() ? reduce_on_plateau->Validate() : absl::OkStatus();
}

absl::Status EvalSpec::Validate() const {
  if (!input_fn) return absl::InvalidArgumentError("EvalSpec: input_fn is not set");
  if (steps.has_value() && *steps <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("EvalSpec: steps must be positive, got ", *steps, "; leave it out for the whole input"));
  }
  if (!(start_delay_secs >= 0) || !(throttle_secs >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("EvalSpec: start_delay_secs and throttle_secs must not be negative, "
                     "got ",
                     start_delay_secs, " and ", throttle_secs));
  }
  if (every_steps.has_value() && every_epochs.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("EvalSpec: every_steps and every_epochs cannot be both set, got ",
                                                   *every_steps, " and ", *every_epochs, "; choose one"));
  }
  for (const auto& [name, every] :
       {std::make_pair("every_steps", every_steps), std::make_pair("every_epochs", every_epochs)}) {
    if (!every.has_value() || *every > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("EvalSpec: ", name, " must be positive, got ", *every, "; leave it out to evaluate checkpoints"));
  }
  return ValidateExporters(exporters);
}

// Calls a function when a training has begun and the model has the values that it starts from.
class BegunHook : public SessionRunHook {
 public:
  using Begun = std::function<absl::Status(int64_t global_step)>;
  explicit BegunHook(Begun begun) : begun_(std::move(begun)) {}
  std::string name() const override { return "TrainAndEvaluate"; }
  absl::Status AfterCreateSession(RunContext& context) override { return begun_(context.global_step()); }

 private:
  const Begun begun_;
};

// One of the evaluations of a TrainAndEvaluate.
struct JobEvaluation {
  JobEvaluation(Estimator& estimator, const EvalSpec& eval_spec, int job_number)
      : spec(eval_spec),
        number(job_number),
        options{.steps = eval_spec.steps,
                .hooks = eval_spec.hooks,
                .name = eval_spec.name,
                .use_moving_average = eval_spec.use_moving_average},
        exporters(estimator, eval_spec.exporters, eval_spec.use_moving_average) {}

  const EvalSpec& spec;
  const int number;  // index among the evaluations of the job, counted from 0
  const EvaluateOptions options;
  ExporterRun exporters;
  EvalResult last;
};

// One call of TrainAndEvaluate. All workers make the call; the chief decides when they evaluate.
class TrainAndEvaluateRun {
 public:
  TrainAndEvaluateRun(Estimator& estimator, const TrainSpec& train_spec, const std::vector<EvalSpec>& eval_specs)
      : estimator_(estimator),
        impl_(*estimator.impl_),
        config_(estimator.config()),
        train_spec_(train_spec),
        eval_specs_(eval_specs) {
    for (const EvalSpec& spec : eval_specs) evaluations_.emplace_back(estimator, spec, evaluations_.size());
  }

  // Returns the last results of the evaluations in which this process took part.
  absl::StatusOr<EvalResults> Run() {
    if (impl_.replays()) {
      TD_RETURN_IF_ERROR(train_spec_.Validate());
      TD_RETURN_IF_ERROR(estimator_.Train(train_spec_.input_fn, {.max_steps = train_spec_.max_steps}));
      return EvalResults();
    }
    TD_RETURN_IF_ERROR(Validate());
    TD_RETURN_IF_ERROR(impl_.status());
    TD_RETURN_IF_ERROR(CheckWhatFollowsEvaluations());
    if (impl_.cooperation().is_server()) {
      TD_RETURN_IF_ERROR(impl_.Serve(train_spec_.input_fn));
      return EvalResults();
    }
    if (impl_.cooperation().is_evaluator() && !config_.compile_only) return EvaluateForOthers();
    if (config_.compile_only) return CompileOnly();
    // Called before `guard` catches signals, so that a signal can end the wait.
    TD_RETURN_IF_ERROR(impl_.JoinWorkers());
    SignalGuard guard(config_.handle_signals);
    LogStart();
    TrainOptions train{.max_steps = train_spec_.max_steps, .hooks = train_spec_.hooks};
    train.hooks.push_back(std::make_shared<BegunHook>([this](int64_t step) { return Begun(step); }));
    if (train_spec_.reduce_on_plateau.has_value()) plateau_ = MakePlateauHook();
    // The chief holds the lock to the end, so that no other process trains between the last step and the writing of
    // DONE. Train locks the directory again, as the same owner.
    std::shared_ptr<FileLock> lock;
    if (impl_.is_chief()) {
      TD_RETURN_IF_ERROR(impl_.Together([&]() -> absl::Status {
        TD_RETURN_IF_ERROR(TakeModelDir(&lock));
        for (JobEvaluation& evaluation : evaluations_) TD_RETURN_IF_ERROR(evaluation.exporters.Prepare());
        TD_RETURN_IF_ERROR(ReadUnfinished());
        return TakeDoneMarkerAway();
      }));
      // Added after the user's own listeners, since the evaluation may take long.
      train.saving_listeners = train_spec_.saving_listeners;
      if (plateau_ != nullptr && config_.checkpoints_enabled()) {
        train.saving_listeners.push_back(
            std::make_shared<PlateauListener>(plateau_, [this] { return WouldBeEvaluated(); }));
      }
      for (JobEvaluation& evaluation : evaluations_) {
        if (impl_.cooperation().has_evaluator() || evaluation.spec.by_steps()) continue;
        train.saving_listeners.push_back(Scheduler(evaluation));
      }
    } else {
      impl_.cooperation().set_on_evaluate([this](uint64_t which) { return EvaluateWithChief(which); });
    }
    TD_RETURN_IF_ERROR(impl_.Together([this] { return AgreeOnInterruption(); }));
    Estimator::Impl::Job job{.evaluation_hooks = [this](const BatchDealer& dealer) { return EvaluationHooks(dealer); },
                             .interrupted_since = interrupted_since_};
    if (Evaluates()) {
      job.check_evaluations = [this](const ModeProgram& training) { return CheckEvaluations(training); };
    }
    impl_.set_job(std::move(job));
    const absl::Status training = estimator_.Train(train_spec_.input_fn, train);
    impl_.set_job(std::nullopt);
    impl_.cooperation().set_on_evaluate(nullptr);
    if (!training.ok() && !begun_) PutDoneMarkerBack();
    // This error is returned before `training`, which has the same error as one of the hook that evaluated.
    TD_RETURN_IF_ERROR(evaluation_);
    TD_RETURN_IF_ERROR(training);
    TD_RETURN_IF_ERROR(Finish());
    if (guard.ForgetsSignal()) {
      return SignalError(SignalGuard::pending(), absl::StrCat(" at the end of TrainAndEvaluate in ", config_.model_dir,
                                                              ", when all was done; its results are there"));
    }
    // If another task evaluates, that task removes the file UNFINISHED once its evaluations and exports are done.
    if (impl_.is_chief() && !impl_.cooperation().has_evaluator()) {
      TD_RETURN_IF_ERROR(RemoveUnfinishedMarker(config_.file_env(), config_.model_dir));
    }
    return Results();
  }

 private:
  EvalResults Results() const {
    EvalResults results;
    for (const JobEvaluation& evaluation : evaluations_) {
      if (!evaluation.last.empty()) results[evaluation.spec.name] = evaluation.last;
    }
    return results;
  }

  absl::StatusOr<EvalResults> EvaluateForOthers() {
    // The chief removes the DONE file of an earlier training when it begins. This task may start before, so it ignores
    // an old DONE file for some seconds.
    double distrust = config_.peer_deadline_secs;
    for (const EvalSpec& spec : eval_specs_) distrust = std::max(distrust, spec.start_delay_secs);
    EvaluatorTask task(estimator_, eval_specs_, {.max_steps = train_spec_.max_steps, .distrust_done_secs = distrust});
    TD_ASSIGN_OR_RETURN(EvalResults results, task.Run());
    TD_RETURN_IF_ERROR(RemoveUnfinishedMarker(config_.file_env(), config_.model_dir));
    return results;
  }

  absl::StatusOr<EvalResults> CompileOnly() {
    for (JobEvaluation& evaluation : evaluations_) TD_RETURN_IF_ERROR(evaluation.exporters.Prepare());
    TD_RETURN_IF_ERROR(
        estimator_.Train(train_spec_.input_fn, {.max_steps = train_spec_.max_steps, .hooks = train_spec_.hooks}));
    for (const EvalSpec& spec : eval_specs_) {
      TD_RETURN_IF_ERROR(
          estimator_.Evaluate(spec.input_fn, {.steps = spec.steps, .hooks = spec.hooks, .name = spec.name}).status());
    }
    return EvalResults();
  }

  absl::Status Validate() {
    TD_RETURN_IF_ERROR(train_spec_.Validate());
    TD_RETURN_IF_ERROR(ValidateEvalSpecs(eval_specs_));
    TD_RETURN_IF_ERROR(config_.Validate());
    const auto by_steps = [](const EvalSpec& spec) { return spec.by_steps(); };
    const bool any_by_steps = std::any_of(eval_specs_.begin(), eval_specs_.end(), by_steps);
    const bool all_by_steps = std::all_of(eval_specs_.begin(), eval_specs_.end(), by_steps);
    if (any_by_steps && impl_.cooperation().has_evaluator()) {
      return absl::InvalidArgumentError(
          "EvalSpec: every_steps and every_epochs are for evaluations inside of the training, and the cluster has a "
          "task of type evaluator, which evaluates checkpoints; set RunConfig.save_checkpoints_steps and throttle_secs "
          "instead, or leave the evaluator out");
    }
    if (any_by_steps && impl_.cooperation().asynchronous()) {
      return absl::InvalidArgumentError(
          "EvalSpec: every_steps and every_epochs go by each step, and with parameter servers the other workers make "
          "steps that the chief does not see; set RunConfig.save_checkpoints_steps and throttle_secs instead");
    }
    if (train_spec_.reduce_on_plateau.has_value() && impl_.cooperation().asynchronous()) {
      return absl::InvalidArgumentError(
          "TrainSpec: reduce_on_plateau sets the rate of all workers between steps, and with parameter servers each "
          "makes steps of its own; leave it out, or the tasks of type ps");
    }
    if (train_spec_.reduce_on_plateau.has_value() && impl_.cooperation().has_evaluator()) {
      return absl::InvalidArgumentError(
          "TrainSpec: reduce_on_plateau needs evaluations between steps, and the cluster has a task of type evaluator "
          "that makes them elsewhere; leave one of the two out");
    }
    if (config_.checkpoints_enabled() || all_by_steps) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "TrainAndEvaluate evaluates checkpoints, and they are off; set save_checkpoints_steps or "
        "save_checkpoints_secs, or EvalSpec.every_steps to evaluate the weights in memory");
  }

  void LogStart() const {
    if (impl_.cooperation().has_evaluator()) {
      TD_LOG(INFO) << "Running training; a task of its own evaluates.";
      return;
    }
    const Cooperation& cooperation = impl_.cooperation();
    TD_LOG(INFO) << (cooperation.asynchronous()  ? "Running training on all workers; the chief evaluates."
                     : cooperation.synchronous() ? "Running training and evaluation on all workers."
                                                 : "Running training and evaluation locally (non-distributed).");
    for (const EvalSpec& spec : eval_specs_) {
      const std::string which = eval_specs_.size() > 1 ? absl::StrCat("\"", spec.name, "\" ") : "";
      if (spec.by_steps()) {
        TD_LOG(INFO) << "Start train and evaluate loop. The evaluate " << which << "will happen every "
                     << (spec.every_steps.has_value() ? absl::StrCat(*spec.every_steps, " steps.")
                                                      : absl::StrCat(*spec.every_epochs, " epochs."));
        continue;
      }
      TD_LOG(INFO) << "Start train and evaluate loop. The evaluate " << which
                   << "will happen after every checkpoint. Checkpoint frequency is determined based on RunConfig "
                      "arguments: "
                   << CheckpointFrequency(config_) << ".";
    }
  }

  // Checks the names of evaluations that ReduceOnPlateau, keep_best and hooks follow.
  absl::Status CheckWhatFollowsEvaluations() {
    const std::vector<std::string> names = EvaluationNames(eval_specs_);
    if (const auto& rule = train_spec_.reduce_on_plateau; rule.has_value()) {
      TD_ASSIGN_OR_RETURN(plateaus_evaluation_, FindEvaluation("TrainSpec.reduce_on_plateau", rule->evaluation, names));
    }
    // The settings and hooks that follow evaluations, each with the name of the evaluations that it follows.
    std::vector<std::pair<std::string, std::string>> asked;
    if (config_.keep_best.has_value()) asked.emplace_back("RunConfig.keep_best", config_.keep_best->evaluation);
    for (const auto& hook : train_spec_.hooks) {
      if (const auto* follows = dynamic_cast<const FollowsEvaluations*>(hook.get()); follows != nullptr) {
        TD_ASSIGN_OR_RETURN(const std::string who, CallUserCode([&] { return hook->name(); }));
        asked.emplace_back(who, follows->followed_evaluation());
      }
    }
    for (const auto& [who, name] : asked) {
      TD_RETURN_IF_ERROR(CheckEvaluationName(who, name, names));
      if (!impl_.is_chief() || std::find(names.begin(), names.end(), name) != names.end()) continue;
      TD_LOG(WARNING) << who << " goes by evaluations with the name \"" << name
                      << "\", and those of TrainAndEvaluate have the name "
                      << absl::StrJoin(
                             names, ", ",
                             [](std::string* out, const std::string& n) { absl::StrAppend(out, "\"", n, "\""); })
                      << " (EvalSpec.name): none of them counts.";
    }
    return absl::OkStatus();
  }

  // The evaluation that ReduceOnPlateau follows.
  JobEvaluation& PlateausEvaluation() { return evaluations_[plateaus_evaluation_]; }

  absl::Status TakeModelDir(std::shared_ptr<FileLock>* lock) const {
    TD_RETURN_IF_ERROR(PrepareModelDir(config_.file_env(), config_.model_dir));
    TD_ASSIGN_OR_RETURN(*lock, LockModelDir(config_.file_env(), config_.model_dir, /*owner=*/&config_));
    return absl::OkStatus();
  }

  absl::Status ReadUnfinished() {
    const auto since = ReadUnfinishedMarker(config_.file_env(), config_.model_dir);
    if (since.ok()) interrupted_since_ = *since;
    // a damaged marker is useless and is ignored
    return absl::IsDataLoss(since.status()) ? absl::OkStatus() : since.status();
  }

  absl::Status TakeDoneMarkerAway() {
    Env* env = config_.file_env();
    // A damaged marker is useless and is ignored.
    done_before_ = ReadDoneMarker(env, config_.model_dir).value_or(std::nullopt);
    return RemoveDoneMarker(env, config_.model_dir);
  }

  // If the start was refused, for example because of another model's checkpoint, nothing has changed: put DONE back.
  void PutDoneMarkerBack() const {
    if (!done_before_.has_value()) return;
    const absl::Status written = WriteDoneMarker(config_.file_env(), config_.model_dir, *done_before_);
    if (!written.ok()) TD_LOG(ERROR) << "The file DONE of the training before is lost: " << written.message();
  }

  // All workers use the chief's answer, since only the chief needs to see model_dir. With parameter servers only the
  // chief has to know it.
  absl::Status AgreeOnInterruption() {
    std::string mine = interrupted_since_.has_value() ? absl::StrCat(*interrupted_since_) : "";
    TD_ASSIGN_OR_RETURN(const std::string chiefs,
                        impl_.cooperation().TextFromChief(std::move(mine), "the step at which the job began"));
    int64_t step = 0;
    interrupted_since_ = absl::SimpleAtoi(chiefs, &step) ? std::make_optional(step) : std::nullopt;
    return absl::OkStatus();
  }

  absl::Status Begun(int64_t global_step) {
    begun_ = true;
    const bool goes_on = interrupted_since_.has_value() && *interrupted_since_ <= global_step;
    if (goes_on || !impl_.is_chief()) return absl::OkStatus();
    return WriteUnfinishedMarker(config_.file_env(), config_.model_dir, global_step);
  }

  bool Signalled() const { return config_.handle_signals && SignalGuard::pending() != 0; }

  // Returns whether a run that is not interrupted would evaluate the checkpoint that is being saved now. Without a
  // throttle it would evaluate every regular checkpoint, but not one that is saved only because a signal ends the
  // training.
  bool WouldBeEvaluated() {
    const std::optional<StopReason> ending = impl_.ending();
    const bool by_signal = ending == StopReason::kSignal || ending == StopReason::kPeerSignal;
    const EvalSpec& spec = PlateausEvaluation().spec;
    return !spec.by_steps() && spec.throttle_secs == 0 && !by_signal;
  }

  std::shared_ptr<EvalScheduler> Scheduler(JobEvaluation& evaluation) {
    EvalScheduler::Options scheduling;
    scheduling.throttle_secs = evaluation.spec.throttle_secs;
    if (eval_specs_.size() > 1) scheduling.title = absl::StrCat("eval \"", evaluation.spec.name, "\"");
    scheduling.signalled = [this] { return Signalled(); };
    scheduling.evaluate = [this, &evaluation](int64_t step) -> absl::StatusOr<bool> {
      if (stopped_) return true;  // a signal stopped an evaluation before this one
      TD_RETURN_IF_ERROR(EvaluateOnce(evaluation, absl::StrCat("after step ", step)));
      return stopped_;
    };
    return std::make_shared<EvalScheduler>(scheduling);
  }

  // True if this process takes part in the evaluations.
  bool Evaluates() const {
    return !impl_.cooperation().has_evaluator() && (impl_.is_chief() || !impl_.cooperation().asynchronous());
  }

  // Looks for mistakes before the first step: the first evaluation may come when the training is nearly over.
  absl::Status CheckEvaluations(const ModeProgram& training) {
    for (JobEvaluation& evaluation : evaluations_) {
      const absl::StatusOr<std::vector<std::string>> metrics =
          impl_.CheckEvaluation(evaluation.spec.input_fn, evaluation.options, &training);
      TD_RETURN_IF_ERROR(Annotate(metrics.status(), Prefix(evaluation)));
      if (const auto& rule = train_spec_.reduce_on_plateau; rule.has_value() && IsPlateaus(evaluation)) {
        TD_RETURN_IF_ERROR(Annotate(CheckMetricName(rule->metric, *metrics), "ReduceOnPlateau: "));
      }
      TD_RETURN_IF_ERROR(evaluation.exporters.CheckMetrics(*metrics));
    }
    return absl::OkStatus();
  }

  bool IsPlateaus(const JobEvaluation& evaluation) const { return evaluation.number == plateaus_evaluation_; }

  // Returns the beginning of messages that says which of several evaluations is meant; "" if there is one.
  std::string Prefix(const JobEvaluation& evaluation) const {
    return eval_specs_.size() > 1 ? absl::StrCat(EvaluationTitle(eval_specs_, evaluation.spec), ": ") : "";
  }

  // The hook of ReduceOnPlateau comes first, so that its state is restored before an evaluation is made.
  absl::StatusOr<HookList> EvaluationHooks(const BatchDealer& dealer) {
    HookList hooks;
    if (plateau_ != nullptr) hooks.push_back(plateau_);
    for (JobEvaluation& evaluation : evaluations_) {
      if (!evaluation.spec.by_steps()) continue;
      TD_ASSIGN_OR_RETURN(const std::shared_ptr<SessionRunHook> evaluator, EvaluatorBySteps(evaluation, dealer));
      if (evaluator != nullptr) hooks.push_back(evaluator);
    }
    return hooks;
  }

  // All workers compute the interval; only the chief evaluates when it is due, and the others join it.
  absl::StatusOr<std::shared_ptr<SessionRunHook>> EvaluatorBySteps(JobEvaluation& evaluation,
                                                                   const BatchDealer& dealer) {
    const EvalSpec& spec = evaluation.spec;
    StepEvaluator::Options evaluator;
    if (spec.every_steps.has_value()) {
      evaluator.interval = {.steps = *spec.every_steps};
    } else {
      const absl::StatusOr<EpochLength> epoch = dealer.epoch();
      TD_RETURN_IF_ERROR(
          Annotate(epoch.status(), "EvalSpec.every_epochs: input_fn, mode train: ", "; set every_steps instead"));
      TD_ASSIGN_OR_RETURN(evaluator.interval,
                          EvalInterval::OfEpochs(*spec.every_epochs, *epoch, dealer.batches_per_round()));
      TD_LOG(INFO) << (*spec.every_epochs == 1 ? "An epoch is " : absl::StrCat(*spec.every_epochs, " epochs are "))
                   << evaluator.interval.ToString() << ".";
    }
    if (!impl_.is_chief()) return std::shared_ptr<SessionRunHook>();
    evaluator.signalled = [this] { return Signalled(); };
    evaluator.evaluate = [this, &evaluation](int64_t step) -> absl::StatusOr<bool> {
      if (stopped_ || !evaluation_.ok()) return true;  // an earlier evaluation of this step was stopped or failed
      const absl::Status evaluated = EvaluateOnce(evaluation, absl::StrCat("after step ", step));
      // Ends training regularly, which saves the steps since the last checkpoint. Run then returns the error.
      if (!evaluation_.ok() && !impl_.cooperation().synchronous()) return true;
      TD_RETURN_IF_ERROR(evaluated);
      return stopped_;
    };
    evaluator.recorded = [this, &spec](int64_t step) -> absl::StatusOr<bool> {
      TD_ASSIGN_OR_RETURN(const std::optional<EvalResult> found, Recorded(spec, step, /*by_job=*/true));
      return found.has_value();
    };
    return std::make_shared<StepEvaluator>(std::move(evaluator));
  }

  // Returns the evaluation of that step recorded in model_dir, unless it is known to be of other data. With `by_job`,
  // ignores evaluations that the user made by calling Evaluate.
  absl::StatusOr<std::optional<EvalResult>> Recorded(const EvalSpec& spec, int64_t step, bool by_job) const {
    const std::string dir = estimator_.eval_dir(spec.name);
    const EvalScope scope{.steps = spec.steps, .raw_weights = !spec.use_moving_average, .job = by_job};
    TD_ASSIGN_OR_RETURN(std::optional<EvalResult> found, FindEvalResult(config_.file_env(), dir, step, scope));
    if (!found.has_value()) return found;  // no need to call input_fn, which may be slow
    TD_ASSIGN_OR_RETURN(const std::string data, impl_.EvaluatedData(spec.input_fn));
    return FindEvalResult(config_.file_env(), dir, step, scope, data);
  }

  absl::StatusOr<EvalResult> Evaluate(const JobEvaluation& evaluation) {
    impl_.set_evaluation_of_job(evaluation.number);
    absl::StatusOr<EvalResult> result = estimator_.Evaluate(evaluation.spec.input_fn, evaluation.options);
    impl_.set_evaluation_of_job(std::nullopt);
    return result;
  }

  absl::Status EvaluateWithChief(uint64_t which) {
    if (which < evaluations_.size()) return EvaluateOnce(evaluations_[which], "with the chief");
    return absl::FailedPreconditionError(absl::StrCat("the chief makes its evaluation number ", which + 1,
                                                      ", and this worker's TrainAndEvaluate has ", evaluations_.size(),
                                                      "; start all with the same program"));
  }

  absl::Status EvaluateOnce(JobEvaluation& evaluation, absl::string_view when) {
    absl::StatusOr<EvalResult> result = Evaluate(evaluation);
    // A signal ends the evaluation early. That is no error, so that training ends regularly.
    stopped_ = absl::IsCancelled(result.status());
    if (stopped_) return absl::OkStatus();
    evaluation_ =
        Annotate(result.status(),
                 absl::StrCat("TrainAndEvaluate, ", EvaluationTitle(eval_specs_, evaluation.spec), " ", when, ": "));
    TD_RETURN_IF_ERROR(evaluation_);
    evaluation.last = *std::move(result);
    absl::Status after;
    if (plateau_ != nullptr && IsPlateaus(evaluation)) after = plateau_->Observe(evaluation.last);
    if (after.ok()) after = evaluation.exporters.AfterEvaluation(evaluation.last);
    evaluation_ = Annotate(after, "TrainAndEvaluate: ");
    return evaluation_;
  }

  std::shared_ptr<PlateauHook> MakePlateauHook() {
    PlateauHook::Options options{.rule = *train_spec_.reduce_on_plateau, .scalars = &impl_.step_scalars()};
    options.recorded = [this](int64_t step) { return RecordedAtChief(step); };
    // If training goes on from a checkpoint that was not evaluated yet, the hook evaluates it. With every_steps or
    // every_epochs StepEvaluator does that.
    if (impl_.is_chief() && !PlateausEvaluation().spec.by_steps()) {
      options.evaluate = [this] { return EvaluateOnce(PlateausEvaluation(), "of the checkpoint to go on from"); };
    }
    return std::make_shared<PlateauHook>(std::move(options));
  }

  // Returns the chief's recorded evaluation on all workers: only the chief needs to see model_dir.
  absl::StatusOr<std::optional<EvalResult>> RecordedAtChief(int64_t step) {
    std::string text;
    if (impl_.is_chief()) {
      const absl::StatusOr<std::optional<EvalResult>> found =
          Recorded(PlateausEvaluation().spec, step, /*by_job=*/true);
      if (found.ok() && found->has_value()) text = (*found)->ToJson();
    }
    TD_ASSIGN_OR_RETURN(text, impl_.cooperation().TextFromChief(std::move(text), "the evaluation on record"));
    if (text.empty()) return std::optional<EvalResult>();
    return EvalResult::FromJson(text);
  }

  absl::Status Finish() {
    if (impl_.cooperation().asynchronous() && !impl_.is_chief()) return absl::OkStatus();  // the chief alone evaluates
    const TrainResult trained = estimator_.last_train_result().value_or(TrainResult());
    // A signal that comes after the last step does not stop the training, but the job is done only after the evaluation
    // of that step.
    const bool all_are_of_the_end = std::all_of(
        evaluations_.begin(), evaluations_.end(),
        [&](const JobEvaluation& evaluation) { return evaluation.last.global_step() == trained.global_step; });
    if ((stopped_ || Signalled()) && !impl_.cooperation().has_evaluator() && !all_are_of_the_end) {
      const bool saved = config_.checkpoints_enabled();
      const std::string detail =
          absl::StrCat(" before the evaluation of global step ", trained.global_step,
                       saved ? ", whose checkpoint is saved, was done; start again to evaluate it"
                             : " was done; checkpoints are off, so nothing was saved");
      return Signalled() ? SignalError(SignalGuard::pending(), detail) : PeerSignalError(detail);
    }
    for (JobEvaluation& evaluation : evaluations_) {
      if (!evaluation.last.empty() || impl_.cooperation().has_evaluator()) continue;
      TD_RETURN_IF_ERROR(EvaluateWhatWasTrained(evaluation, trained));
    }
    if (!impl_.is_chief()) return absl::OkStatus();
    TD_RETURN_IF_ERROR(WriteDoneMarker(config_.file_env(), config_.model_dir,
                                       {.final_step = trained.global_step, .reason = DoneReason(trained)}));
    absl::Status exported;
    for (JobEvaluation& evaluation : evaluations_) exported.Update(evaluation.exporters.AtEnd(evaluation.last));
    return Annotate(exported, "TrainAndEvaluate, which is done but for this: ");
  }

  // Called if nothing was trained, because the last run may have ended between its final checkpoint and the evaluation
  // of that.
  absl::Status EvaluateWhatWasTrained(JobEvaluation& evaluation, const TrainResult& trained) {
    // Workers that make steps together all evaluate again, because only the chief knows which results are recorded.
    if (!impl_.cooperation().synchronous()) {
      absl::StatusOr<std::optional<EvalResult>> recorded =
          Recorded(evaluation.spec, trained.global_step, /*by_job=*/false);
      if (recorded.ok() && recorded->has_value()) {
        TD_LOG(INFO) << "Nothing to do: global step " << trained.global_step << " is trained and evaluated.";
        evaluation.last = **std::move(recorded);
        evaluation.exporters.set_is_on_record(done_before_.has_value());
        return absl::OkStatus();
      }
    }
    TD_ASSIGN_OR_RETURN(evaluation.last, Evaluate(evaluation));
    return absl::OkStatus();
  }

  Estimator& estimator_;
  Estimator::Impl& impl_;
  const RunConfig& config_;
  const TrainSpec& train_spec_;
  const std::vector<EvalSpec>& eval_specs_;
  std::deque<JobEvaluation> evaluations_;  // one for each of eval_specs_
  std::shared_ptr<PlateauHook> plateau_;   // null without ReduceOnPlateau
  int plateaus_evaluation_ = 0;            // number of the evaluation that ReduceOnPlateau follows
  absl::Status evaluation_;                // error of the last evaluation, or of the exports after it
  bool stopped_ = false;                   // true: a signal stopped the last evaluation
  bool begun_ = false;                     // true: the training has begun
  std::optional<DoneMarker> done_before_;
  std::optional<int64_t> interrupted_since_;  // step at which an unfinished job began
};

absl::StatusOr<EvalResults> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                             const std::vector<EvalSpec>& eval_specs) {
  return CatchResourceErrors("TrainAndEvaluate",
                             [&] { return TrainAndEvaluateRun(estimator, train_spec, eval_specs).Run(); });
}

absl::StatusOr<EvalResult> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                            const EvalSpec& eval_spec) {
  TD_ASSIGN_OR_RETURN(EvalResults results, TrainAndEvaluate(estimator, train_spec, std::vector<EvalSpec>{eval_spec}));
  return results.empty() ? EvalResult() : std::move(results.begin()->second);
}

}  // namespace tandem
