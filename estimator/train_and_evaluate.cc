#include "estimator/train_and_evaluate.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/done_marker.h"
#include "estimator/eval_log.h"
#include "estimator/eval_scheduler.h"
#include "estimator/model_dir.h"
#include "estimator/signals.h"

namespace tandem {
namespace {

const char* DoneReason(StopReason reason) {
  switch (reason) {
    case StopReason::kMaxRounds:
      return "max_steps";
    case StopReason::kEndOfInput:
      return "end of input";
    default:
      return "stop requested";
  }
}

std::string CheckpointFrequency(const RunConfig& config) {
  return config.checkpoint_steps() > 0 ? absl::StrCat("save_checkpoints_steps ", config.checkpoint_steps())
                                       : absl::StrCat("save_checkpoints_secs ", config.checkpoint_secs());
}

absl::StatusOr<EvalResult> RunLocally(Estimator& estimator, const TrainSpec& train_spec, const EvalSpec& eval_spec);

}  // namespace

absl::Status TrainSpec::Validate() const {
  if (!input_fn) return absl::InvalidArgumentError("TrainSpec: input_fn is not set");
  if (max_steps.has_value() && *max_steps <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("TrainSpec: max_steps must be positive, got ", *max_steps,
                                                   "; leave it out to train to the end of the input"));
  }
  return absl::OkStatus();
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
  return absl::OkStatus();
}

absl::StatusOr<EvalResult> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                            const EvalSpec& eval_spec) {
  return CatchResourceErrors("TrainAndEvaluate", [&] { return RunLocally(estimator, train_spec, eval_spec); });
}

namespace {

absl::StatusOr<EvalResult> RunLocally(Estimator& estimator, const TrainSpec& train_spec, const EvalSpec& eval_spec) {
  TD_RETURN_IF_ERROR(train_spec.Validate());
  TD_RETURN_IF_ERROR(eval_spec.Validate());
  const RunConfig& config = estimator.config();
  TD_RETURN_IF_ERROR(config.Validate());
  if (!config.checkpoints_enabled()) {
    return absl::InvalidArgumentError(
        "TrainAndEvaluate evaluates checkpoints, and they are off; set save_checkpoints_steps or "
        "save_checkpoints_secs");
  }
  Env* env = config.file_env();
  if (config.compile_only) {
    TD_RETURN_IF_ERROR(
        estimator.Train(train_spec.input_fn, {.max_steps = train_spec.max_steps, .hooks = train_spec.hooks}));
    return estimator.Evaluate(eval_spec.input_fn, {.steps = eval_spec.steps, .hooks = eval_spec.hooks});
  }
  TD_LOG(INFO) << "Running training and evaluation locally (non-distributed).";
  TD_LOG(INFO)
      << "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency "
         "is determined based on RunConfig arguments: "
      << CheckpointFrequency(config) << ".";

  SignalGuard guard(config.handle_signals);
  const EvaluateOptions evaluate{.steps = eval_spec.steps, .hooks = eval_spec.hooks, .name = eval_spec.name};
  EvalResult last;
  absl::Status evaluation;
  EvalScheduler::Options scheduling;
  scheduling.throttle_secs = eval_spec.throttle_secs;
  scheduling.signalled = [&config] { return config.handle_signals && SignalGuard::pending() != 0; };
  scheduling.evaluate = [&](int64_t step) -> absl::StatusOr<bool> {
    absl::StatusOr<EvalResult> result = estimator.Evaluate(eval_spec.input_fn, evaluate);
    // A signal ends the evaluation early; training must still come to its orderly end.
    if (absl::IsCancelled(result.status()) && scheduling.signalled()) return true;
    evaluation = Annotate(result.status(), absl::StrCat("TrainAndEvaluate, evaluation after step ", step, ": "));
    TD_RETURN_IF_ERROR(evaluation);
    last = *std::move(result);
    return false;
  };
  auto scheduler = std::make_shared<EvalScheduler>(scheduling);

  TD_RETURN_IF_ERROR(PrepareModelDir(env, config.model_dir));
  // To the end, so that nobody else trains between the last step and the marker. Train takes it again.
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<FileLock> lock, LockModelDir(env, config.model_dir, /*owner=*/&config));
  TD_RETURN_IF_ERROR(RemoveDoneMarker(env, config.model_dir));
  TrainOptions train{
      .max_steps = train_spec.max_steps, .hooks = train_spec.hooks, .saving_listeners = train_spec.saving_listeners};
  // After the user's own listeners, as the evaluation may take long.
  train.saving_listeners.push_back(scheduler);
  const absl::Status training = estimator.Train(train_spec.input_fn, train);
  TD_RETURN_IF_ERROR(evaluation);  // not as an error of the hook that happened to call it
  TD_RETURN_IF_ERROR(training);

  const TrainResult trained = estimator.last_train_result().value_or(TrainResult());
  // Training may have come to its end before the signal did; without the evaluation of that end the job is not done.
  if (scheduling.signalled() && last.global_step() != trained.global_step) {
    return SignalError(SignalGuard::pending(),
                       absl::StrCat(" before the evaluation of global step ", trained.global_step,
                                    ", whose checkpoint is saved, was done; start again to evaluate it"));
  }
  if (last.empty()) {
    // Nothing was trained. The last run may have ended between its final checkpoint and the evaluation of it.
    absl::StatusOr<std::optional<EvalResult>> recorded =
        FindEvalResult(env, estimator.eval_dir(eval_spec.name), trained.global_step, {.steps = eval_spec.steps});
    if (recorded.ok() && recorded->has_value()) {
      TD_LOG(INFO) << "Nothing to do: global step " << trained.global_step << " is trained and evaluated.";
      last = **std::move(recorded);
    } else {
      TD_ASSIGN_OR_RETURN(last, estimator.Evaluate(eval_spec.input_fn, evaluate));
    }
  }
  TD_RETURN_IF_ERROR(WriteDoneMarker(env, config.model_dir,
                                     {.final_step = trained.global_step, .reason = DoneReason(trained.reason)}));
  return last;
}

}  // namespace
}  // namespace tandem
