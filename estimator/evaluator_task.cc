#include "estimator/evaluator_task.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/estimator_impl.h"
#include "estimator/signals.h"

namespace tandem {
namespace {

constexpr double kPollSeconds = 0.5;
constexpr double kWarnAgainSeconds = 600;

}  // namespace

absl::StatusOr<bool> EvaluatorTask::NothingToTrain(const DoneMarker& done) const {
  if (!options_.max_steps.has_value() || done.final_step < *options_.max_steps) return false;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> paths, estimator_.impl_->checkpoints().ListCheckpoints());
  return !paths.empty() && BaseName(paths.back()) == CheckpointName(done.final_step);
}

absl::StatusOr<std::optional<int64_t>> EvaluatorTask::FinalStep() {
  using Result = std::optional<int64_t>;
  const RunConfig& config = estimator_.config();
  TD_ASSIGN_OR_RETURN(const std::optional<DoneMarker> done, ReadDoneMarker(config.file_env(), config.model_dir));
  if (old_.has_value() && (!done.has_value() || old_->final_step != done->final_step || old_->reason != done->reason)) {
    old_.reset();  // training has begun, or ended, since
  }
  if (!done.has_value()) return Result();
  if (options_.max_steps.has_value() && done->final_step < *options_.max_steps && done->reason == "max_steps") {
    return Result();  // of an earlier training
  }
  if (old_.has_value() && Now() < began_ + options_.distrust_done_secs) {
    TD_ASSIGN_OR_RETURN(const bool nothing, NothingToTrain(*done));
    if (!nothing) return Result();
  }
  return Result(done->final_step);
}

absl::Status EvaluatorTask::Wait(double seconds) {
  const RunConfig& config = estimator_.config();
  Env* env = config.file_env();
  const double end = Now() + seconds;
  while (true) {
    if (config.handle_signals && SignalGuard::pending() != 0) {
      return SignalError(SignalGuard::pending(), " while waiting for checkpoints");
    }
    const double left = end - Now();
    if (left <= 0) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> final_step, FinalStep());
    if (final_step.has_value()) return absl::OkStatus();
    env->SleepSeconds(std::min(left, kPollSeconds));
  }
}

void EvaluatorTask::WarnThatThereIsNone() {
  const double now = Now();
  if (warned_at_.has_value() && now - *warned_at_ < kWarnAgainSeconds) return;
  warned_at_ = now;
  TD_LOG(WARNING) << (evaluated_.empty()
                          ? "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
                          : "No new checkpoint ready for evaluation.")
                  << " Waiting for one in " << estimator_.model_dir() << ".";
}

EvaluateOptions EvaluatorTask::WhatToEvaluate() const {
  return {.steps = eval_spec_.steps,
          .hooks = eval_spec_.hooks,
          .name = eval_spec_.name,
          .use_moving_average = eval_spec_.use_moving_average};
}

absl::StatusOr<bool> EvaluatorTask::EvaluateNewest() {
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest, estimator_.impl_->LatestCheckpoint(evaluated_));
  if (!newest.has_value() || *newest == evaluated_) return false;
  EvaluateOptions options = WhatToEvaluate();
  options.checkpoint_path = *newest;
  estimator_.impl_->set_evaluates_for_job(true);
  absl::StatusOr<EvalResult> result = estimator_.Evaluate(eval_spec_.input_fn, options);
  estimator_.impl_->set_evaluates_for_job(false);
  if (!result.ok()) {
    const absl::Status there = estimator_.config().file_env()->Stat(*newest).status();
    if (!absl::IsNotFound(there)) return Annotate(result.status(), absl::StrCat("evaluation of ", *newest, ": "));
    TD_LOG(INFO) << *newest << " was deleted before it was read; looking for a newer one.";
    return false;
  }
  evaluated_ = *newest;
  last_ = *std::move(result);
  TD_RETURN_IF_ERROR(exporters_.AfterEvaluation(last_, evaluated_));
  return true;
}

absl::StatusOr<EvalResult> EvaluatorTask::Run() {
  SignalGuard guard(estimator_.config().handle_signals);
  TD_ASSIGN_OR_RETURN(EvalResult last, EvaluateToTheEnd());
  if (guard.ForgetsSignal()) {
    return SignalError(SignalGuard::pending(), absl::StrCat(" behind the last evaluation, whose result is in ",
                                                            estimator_.eval_dir(eval_spec_.name)));
  }
  return last;
}

absl::StatusOr<EvalResult> EvaluatorTask::EvaluateToTheEnd() {
  const RunConfig& config = estimator_.config();
  TD_RETURN_IF_ERROR(exporters_.Prepare());
  // Mistakes are found before the first checkpoint is there.
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> metrics,
                      estimator_.impl_->CheckEvaluation(eval_spec_.input_fn, WhatToEvaluate(), /*training=*/nullptr));
  TD_RETURN_IF_ERROR(exporters_.CheckMetrics(metrics));
  TD_LOG(INFO) << absl::StrFormat("Waiting %f secs before starting eval.", eval_spec_.start_delay_secs);
  began_ = found_ = Now();
  TD_ASSIGN_OR_RETURN(old_, ReadDoneMarker(config.file_env(), config.model_dir));
  TD_RETURN_IF_ERROR(Wait(eval_spec_.start_delay_secs));
  for (int64_t evaluations = 0;;) {
    // Before the checkpoints, so that the last one is seen when training has ended.
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> final_step, FinalStep());
    const double begin = Now();
    TD_ASSIGN_OR_RETURN(const bool evaluated, EvaluateNewest());
    if (final_step.has_value() && !last_.empty() && last_.global_step() >= *final_step) {
      TD_LOG(INFO) << "Exiting evaluation, global_step=" << last_.global_step()
                   << (options_.max_steps.has_value() && last_.global_step() >= *options_.max_steps
                           ? absl::StrCat(" >= train max_steps=", *options_.max_steps)
                           : " is the last of the training");
      TD_RETURN_IF_ERROR(exporters_.AtEnd(last_, evaluated_));
      return last_;
    }
    if (evaluated) {
      if (++evaluations == options_.max_evaluations) return last_;
      warned_at_.reset();
      found_ = begin;
      const double wait = eval_spec_.throttle_secs - (Now() - begin);
      if (wait > 0) TD_LOG(INFO) << absl::StrFormat("Waiting %f secs before starting next eval run.", wait);
      TD_RETURN_IF_ERROR(Wait(wait));
      continue;
    }
    if (final_step.has_value()) {
      TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest, estimator_.LatestCheckpoint());
      if (newest.has_value() && *newest != evaluated_) continue;
      return absl::NotFoundError(absl::StrCat("training in ", estimator_.model_dir(), " has ended at global step ",
                                              *final_step, ", and there is no checkpoint of it"));
    }
    if (options_.timeout_secs > 0 && Now() >= found_ + options_.timeout_secs) {
      const std::string what =
          absl::StrCat("no new checkpoint in ", estimator_.model_dir(), " for ", options_.timeout_secs, " secs");
      if (last_.empty())
        return absl::DeadlineExceededError(absl::StrCat(what, ", and none before; is it being trained?"));
      TD_LOG(INFO) << "Exiting evaluation: " << what << ".";
      return last_;
    }
    WarnThatThereIsNone();
    TD_RETURN_IF_ERROR(Wait(kPollSeconds));
  }
}

}  // namespace tandem
