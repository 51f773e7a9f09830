#include "estimator/internal/evaluator_task.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/internal/eval_spec_list.h"
#include "estimator/loop/signals.h"

namespace tandem {
namespace {

constexpr double kPollSeconds = 0.5;
constexpr double kSayAgainSeconds = 600;

}  // namespace

EvaluatorTask::Evaluation::Evaluation(Estimator& estimator, const EvalSpec& eval_spec)
    : spec(eval_spec),
      options{.steps = eval_spec.steps,
              .hooks = eval_spec.hooks,
              .name = eval_spec.name,
              .use_moving_average = eval_spec.use_moving_average},
      exporters(estimator, eval_spec.exporters, eval_spec.use_moving_average) {}

EvaluatorTask::EvaluatorTask(Estimator& estimator, const std::vector<EvalSpec>& eval_specs, Options options)
    : estimator_(estimator), eval_specs_(eval_specs), options_(options) {
  for (const EvalSpec& spec : eval_specs) evaluations_.emplace_back(estimator, spec);
}

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
    // Since this task began, a training has removed the file or has written another one.
    old_.reset();
  }
  if (!done.has_value()) return Result();
  if (options_.max_steps.has_value() && done->final_step < *options_.max_steps && done->reason == "max_steps") {
    return Result();  // an earlier training wrote the file
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

void EvaluatorTask::SayThatThereIsNone() {
  const double now = Now();
  if (said_at_.has_value() && now - *said_at_ < kSayAgainSeconds) return;
  said_at_ = now;
  if (evaluations_.front().last.empty()) {
    TD_LOG(WARNING) << "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready. Waiting for "
                       "one in "
                    << estimator_.model_dir() << ".";
  } else {
    TD_LOG(INFO) << "No new checkpoint ready for evaluation. Waiting for one in " << estimator_.model_dir() << ".";
  }
}

absl::StatusOr<bool> EvaluatorTask::EvaluateNewest(Evaluation& evaluation) {
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest,
                      estimator_.impl_->LatestCheckpoint(evaluation.evaluated));
  if (!newest.has_value() || *newest == evaluation.evaluated) return false;
  EvaluateOptions options = evaluation.options;
  options.checkpoint_path = *newest;
  estimator_.impl_->set_evaluation_of_job(static_cast<int>(&evaluation.spec - eval_specs_.data()));
  absl::StatusOr<EvalResult> result = estimator_.Evaluate(evaluation.spec.input_fn, options);
  estimator_.impl_->set_evaluation_of_job(std::nullopt);
  if (!result.ok()) {
    const absl::Status there = estimator_.config().file_env()->Stat(*newest).status();
    if (!absl::IsNotFound(there)) {
      return Annotate(result.status(),
                      absl::StrCat(EvaluationTitle(eval_specs_, evaluation.spec), " of ", *newest, ": "));
    }
    TD_LOG(INFO) << *newest << " was deleted before it was read; looking for a newer one.";
    return false;
  }
  evaluation.evaluated = *newest;
  evaluation.last = *std::move(result);
  TD_RETURN_IF_ERROR(evaluation.exporters.AfterEvaluation(evaluation.last, evaluation.evaluated));
  return true;
}

absl::StatusOr<bool> EvaluatorTask::EvaluateWhatIsDue(bool all) {
  bool any = false;
  for (Evaluation& evaluation : evaluations_) {
    const double begin = Now();
    if (!all && begin < evaluation.due) continue;
    TD_ASSIGN_OR_RETURN(const bool evaluated, EvaluateNewest(evaluation));
    if (!evaluated) continue;
    any = true;
    found_ = begin;
    evaluation.due = begin + evaluation.spec.throttle_secs;
  }
  return any;
}

bool EvaluatorTask::AllHaveReached(int64_t step) const {
  return std::all_of(evaluations_.begin(), evaluations_.end(),
                     [&](const Evaluation& evaluation) { return evaluation.HasReached(step); });
}

absl::StatusOr<bool> EvaluatorTask::IsBehind() const {
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> newest, estimator_.LatestCheckpoint());
  return newest.has_value() && std::any_of(evaluations_.begin(), evaluations_.end(), [&](const Evaluation& evaluation) {
           return evaluation.evaluated != *newest;
         });
}

double EvaluatorTask::FirstDue() const {
  return std::min_element(evaluations_.begin(), evaluations_.end(),
                          [](const Evaluation& a, const Evaluation& b) { return a.due < b.due; })
      ->due;
}

absl::StatusOr<EvalResults> EvaluatorTask::Run() {
  SignalGuard guard(estimator_.config().handle_signals);
  TD_ASSIGN_OR_RETURN(EvalResults last, EvaluateToTheEnd());
  if (guard.ForgetsSignal()) {
    return SignalError(SignalGuard::pending(), absl::StrCat(" behind the last evaluation, whose result is in ",
                                                            estimator_.eval_dir(eval_specs_.back().name)));
  }
  return last;
}

absl::Status EvaluatorTask::FindMistakes() {
  for (Evaluation& evaluation : evaluations_) TD_RETURN_IF_ERROR(evaluation.exporters.Prepare());
  for (Evaluation& evaluation : evaluations_) {
    const absl::StatusOr<std::vector<std::string>> metrics =
        estimator_.impl_->CheckEvaluation(evaluation.spec.input_fn, evaluation.options, /*training=*/nullptr);
    const bool several = eval_specs_.size() > 1;
    TD_RETURN_IF_ERROR(
        Annotate(metrics.status(), several ? absl::StrCat(EvaluationTitle(eval_specs_, evaluation.spec), ": ") : ""));
    TD_RETURN_IF_ERROR(evaluation.exporters.CheckMetrics(*metrics));
  }
  return absl::OkStatus();
}

absl::StatusOr<EvalResults> EvaluatorTask::EvaluateToTheEnd() {
  const RunConfig& config = estimator_.config();
  TD_RETURN_IF_ERROR(FindMistakes());  // called before there is a checkpoint, to find mistakes early
  began_ = found_ = Now();
  for (Evaluation& evaluation : evaluations_) evaluation.due = began_ + evaluation.spec.start_delay_secs;
  const double delay = FirstDue() - began_;
  TD_LOG(INFO) << absl::StrFormat("Waiting %f secs before starting eval.", delay);
  TD_ASSIGN_OR_RETURN(old_, ReadDoneMarker(config.file_env(), config.model_dir));
  TD_RETURN_IF_ERROR(Wait(delay));
  const auto results = [this] {
    EvalResults last;
    for (const Evaluation& evaluation : evaluations_) {
      if (!evaluation.last.empty()) last[evaluation.spec.name] = evaluation.last;
    }
    return last;
  };
  for (int64_t rounds = 0;;) {
    // Read DONE before looking for checkpoints, so that the last checkpoint is seen once training has ended.
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> final_step, FinalStep());
    TD_ASSIGN_OR_RETURN(const bool evaluated, EvaluateWhatIsDue(/*all=*/final_step.has_value()));
    if (final_step.has_value() && AllHaveReached(*final_step)) {
      const int64_t step = evaluations_.front().last.global_step();
      TD_LOG(INFO) << "Exiting evaluation, global_step=" << step
                   << (options_.max_steps.has_value() && step >= *options_.max_steps
                           ? absl::StrCat(" >= train max_steps=", *options_.max_steps)
                           : " is the last of the training");
      absl::Status exported;
      for (Evaluation& evaluation : evaluations_) {
        exported.Update(evaluation.exporters.AtEnd(evaluation.last, evaluation.evaluated));
      }
      TD_RETURN_IF_ERROR(exported);
      return results();
    }
    if (evaluated) {
      if (++rounds == options_.max_evaluations) return results();
      said_at_.reset();
      const double wait = FirstDue() - Now();
      if (wait > 0) TD_LOG(INFO) << absl::StrFormat("Waiting %f secs before starting next eval run.", wait);
      TD_RETURN_IF_ERROR(Wait(wait));
      continue;
    }
    if (final_step.has_value()) {
      TD_ASSIGN_OR_RETURN(const bool behind, IsBehind());
      if (behind) continue;
      return absl::NotFoundError(absl::StrCat("training in ", estimator_.model_dir(), " has ended at global step ",
                                              *final_step, ", and there is no checkpoint of it"));
    }
    if (options_.timeout_secs > 0 && Now() >= found_ + options_.timeout_secs) {
      const std::string what =
          absl::StrCat("no new checkpoint in ", estimator_.model_dir(), " for ", options_.timeout_secs, " secs");
      if (results().empty()) {
        return absl::DeadlineExceededError(absl::StrCat(what, ", and none before; is it being trained?"));
      }
      TD_LOG(INFO) << "Exiting evaluation: " << what << ".";
      return results();
    }
    SayThatThereIsNone();
    TD_RETURN_IF_ERROR(Wait(kPollSeconds));
  }
}

}  // namespace tandem
