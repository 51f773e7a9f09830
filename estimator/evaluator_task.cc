#include "estimator/evaluator_task.h"

#include <algorithm>
#include <utility>

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

absl::StatusOr<std::optional<int64_t>> EvaluatorTask::FinalStep() {
  const RunConfig& config = estimator_.config();
  TD_ASSIGN_OR_RETURN(const std::optional<DoneMarker> done, ReadDoneMarker(config.file_env(), config.model_dir));
  if (!done.has_value()) return std::optional<int64_t>();
  if (old_.has_value() && old_->final_step == done->final_step && old_->reason == done->reason) {
    return std::optional<int64_t>();
  }
  const bool earlier =
      train_spec_.max_steps.has_value() && done->final_step < *train_spec_.max_steps && done->reason == "max_steps";
  return earlier ? std::optional<int64_t>() : done->final_step;
}

absl::Status EvaluatorTask::Wait(double seconds) {
  const RunConfig& config = estimator_.config();
  Env* env = config.file_env();
  const double end = env->MonotonicSeconds() + seconds;
  while (true) {
    if (config.handle_signals && SignalGuard::pending() != 0) {
      return SignalError(SignalGuard::pending(), " while waiting for checkpoints");
    }
    const double left = end - env->MonotonicSeconds();
    if (left <= 0) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> final_step, FinalStep());
    if (final_step.has_value()) return absl::OkStatus();
    env->SleepSeconds(std::min(left, kPollSeconds));
  }
}

void EvaluatorTask::WarnThatThereIsNone() {
  const double now = estimator_.config().file_env()->MonotonicSeconds();
  if (warned_at_.has_value() && now - *warned_at_ < kWarnAgainSeconds) return;
  warned_at_ = now;
  TD_LOG(WARNING) << (evaluated_.empty()
                          ? "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
                          : "No new checkpoint ready for evaluation.")
                  << " Waiting for one in " << estimator_.model_dir() << ".";
}

absl::StatusOr<bool> EvaluatorTask::EvaluateNewest() {
  CheckpointManager& checkpoints = estimator_.impl_->checkpoints();
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest, checkpoints.LatestCheckpoint(evaluated_));
  if (!newest.has_value() || *newest == evaluated_) return false;
  EvaluateOptions options{.steps = eval_spec_.steps, .hooks = eval_spec_.hooks, .name = eval_spec_.name};
  options.use_moving_average = eval_spec_.use_moving_average;
  options.checkpoint_path = *newest;
  absl::StatusOr<EvalResult> result = estimator_.Evaluate(eval_spec_.input_fn, options);
  if (!result.ok()) {
    const absl::Status there = estimator_.config().file_env()->Stat(*newest).status();
    if (!absl::IsNotFound(there)) return Annotate(result.status(), absl::StrCat("evaluation of ", *newest, ": "));
    TD_LOG(INFO) << *newest << " was deleted before it was read; looking for a newer one.";
    return false;
  }
  evaluated_ = *newest;
  last_ = *std::move(result);
  return true;
}

absl::StatusOr<EvalResult> EvaluatorTask::Run() {
  const RunConfig& config = estimator_.config();
  SignalGuard guard(config.handle_signals);
  TD_LOG(INFO) << absl::StrFormat("Waiting %f secs before starting eval.", eval_spec_.start_delay_secs);
  TD_ASSIGN_OR_RETURN(old_, ReadDoneMarker(config.file_env(), config.model_dir));
  TD_RETURN_IF_ERROR(Wait(eval_spec_.start_delay_secs));
  old_.reset();  // training has begun and removed it, or has ended long ago
  while (true) {
    // Before the checkpoints, so that the last one is seen when training has ended.
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> final_step, FinalStep());
    const double begin = config.file_env()->MonotonicSeconds();
    TD_ASSIGN_OR_RETURN(const bool evaluated, EvaluateNewest());
    if (final_step.has_value() && !last_.empty() && last_.global_step() >= *final_step) return last_;
    if (evaluated) {
      warned_at_.reset();
      TD_RETURN_IF_ERROR(Wait(eval_spec_.throttle_secs - (config.file_env()->MonotonicSeconds() - begin)));
      continue;
    }
    if (final_step.has_value()) {
      TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest, estimator_.latest_checkpoint());
      if (newest.has_value() && *newest != evaluated_) continue;
      return absl::NotFoundError(absl::StrCat("training in ", estimator_.model_dir(), " has ended at global step ",
                                              *final_step, ", and there is no checkpoint of it"));
    }
    WarnThatThereIsNone();
    TD_RETURN_IF_ERROR(Wait(kPollSeconds));
  }
}

}  // namespace tandem
