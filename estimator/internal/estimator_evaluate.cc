// Estimator::Evaluate and Estimator::Predict.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/fingerprint.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/throughput.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/evaluation/metric_accumulator.h"
#include "estimator/evaluation/metric_value.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/signals.h"
#include "estimator/model/variable_check.h"
#include "estimator/summary/model_summaries.h"

namespace tandem {
namespace {

// Returns the UTC time, as "2026-01-31T12:00:00Z".
std::string TimeStamp() { return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()); }

// Logs "Evaluation [10/100]": at every step of a short evaluation, at every tenth of a long one.
void LogEvaluationProgress(int64_t done, const std::optional<int64_t>& total) {
  if (!total.has_value()) return;
  if (*total < 20 || done % (*total / 10) == 0) TD_LOG(INFO) << "Evaluation [" << done << "/" << *total << "]";
}

// Returns row `row` of a batched tensor, without the batch dimension.
HostTensor Row(const HostTensor& batch, int64_t row) {
  HostTensor result(batch.dtype(), Shape(batch.shape().begin() + 1, batch.shape().end()));
  const int64_t bytes = result.byte_size();
  if (bytes > 0) std::memcpy(result.raw(), static_cast<const char*>(batch.raw()) + row * bytes, bytes);
  return result;
}

// Passes each example's predictions to the function that the caller of Predict gave.
class PredictHook : public SessionRunHook {
 public:
  PredictHook(std::vector<std::string> names, const PredictFn& on_prediction)
      : names_(std::move(names)), on_prediction_(on_prediction) {}
  std::string name() const override { return "PredictHook"; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    for (int64_t row = 0; row < values.examples; ++row) {
      NamedTensors prediction;
      for (const std::string& name : names_) {
        auto it = values.tensors.find(name);
        if (it == values.tensors.end() || it->second.rank() == 0 || it->second.shape()[0] != values.examples) {
          return absl::InternalError(absl::StrCat("prediction ", name, " does not have one row for each example"));
        }
        prediction[name] = Row(it->second, row);
      }
      absl::StatusOr<bool> more = CallUserCode([&] { return on_prediction_(prediction); });
      if (!more.ok()) {
        return Annotate(more.status(), absl::StrCat("the function for predictions, example ", examples_, ": "));
      }
      ++examples_;
      if (*more) continue;
      context.RequestStop();
      break;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::string> names_;
  const PredictFn& on_prediction_;
  int64_t examples_ = 0;  // number of examples passed to on_prediction_
};

}  // namespace

absl::StatusOr<EvalResult> Estimator::Impl::Evaluate(const InputFn& input_fn, const EvaluateOptions& options) {
  TD_RETURN_IF_ERROR(status_);
  EvalResult result;
  TD_RETURN_IF_ERROR(Together([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(result, EvaluateTogether(input_fn, options));
    return absl::OkStatus();
  }));
  return result;
}

absl::StatusOr<EvalResult> Estimator::Impl::EvaluateTogether(const InputFn& input_fn, const EvaluateOptions& options) {
  if (options.steps.has_value() && *options.steps <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Evaluate: steps must be positive, got ", *options.steps, "; leave it out for the whole input"));
  }
  TD_RETURN_IF_ERROR(CheckHooks("EvaluateOptions.hooks", options.hooks));
  TD_RETURN_IF_ERROR(JoinWorkers());
  TD_RETURN_IF_ERROR(CheckOutputs());
  SignalGuard guard(config_.handle_signals);
  TD_RETURN_IF_ERROR(cooperation_->MeetForEvaluation(job_.evaluation.value_or(0)));
  TD_ASSIGN_OR_RETURN(const Prepared prepared, PrepareEvaluation(input_fn, options));
  if (is_chief()) TD_RETURN_IF_ERROR(CheckModelDirExists(options.checkpoint_path));
  const EstimatorSpec& spec = prepared.program->spec();
  HookList hooks = options.hooks;
  hooks.insert(hooks.end(), spec.evaluation_hooks.begin(), spec.evaluation_hooks.end());
  std::shared_ptr<EvalSummaryHook> of_model;
  if (is_chief() && config_.save_summary_steps > 0) {
    of_model = std::make_shared<EvalSummaryHook>(prepared.program->summaries());
    hooks.push_back(of_model);
  }
  TD_RETURN_IF_ERROR(Finalize(prepared, hooks));
  if (config_.compile_only) return EvalResult();
  TD_ASSIGN_OR_RETURN(const bool own, LoadForInference(prepared, options.checkpoint_path, "evaluate"));
  TD_RETURN_IF_ERROR(BindVariables(prepared, options.use_moving_average));

  TD_LOG(INFO) << "Starting evaluation at " << TimeStamp();
  const double begin = config_.file_env()->MonotonicSeconds();
  MetricAccumulator metrics(spec.metrics);
  LoopOptions loop;
  loop.mode = Mode::kEval;
  loop.scalars["seed"] = state_.seed;
  loop.fetches = metrics.fetches();
  loop.tracer = tracing_.tracer();
  loop.stall_watch = stall_watch_.get();
  loop.fetchable = prepared.program->runner().output_names();
  loop.max_rounds = options.steps.value_or(-1);
  int64_t rounds = 0;
  loop.on_step = [&](const RunValues& values) -> absl::Status {
    LogEvaluationProgress(++rounds, options.steps);
    TD_RETURN_IF_ERROR(CheckParams(*prepared.program));
    return metrics.Add(values);
  };
  if (config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
  prepared.cooperation->ConfigureLoop(&loop, [this] { return state_.step_scalars.Fingerprint(); });
  TD_ASSIGN_OR_RETURN(const LoopResult result,
                      RunLoop(prepared.program->runner(), *prepared.input, hooks, loop, resident_.step_counter()));
  TD_RETURN_IF_ERROR(CheckParams(*prepared.program));
  TD_RETURN_IF_ERROR(SignalErrorOf(result, " during an evaluation"));
  if (metrics.examples() == 0) {
    return absl::InvalidArgumentError(
        "input_fn, mode eval: the input has no examples; a batch that is larger than the data is dropped by "
        "drop_remainder, and a filter may have left nothing");
  }

  TD_LOG(INFO) << absl::StrFormat("Inference Time : %.5fs", config_.file_env()->MonotonicSeconds() - begin);
  TD_LOG(INFO) << "Finished evaluation at " << TimeStamp() << ": evaluated " << metrics.examples() << " examples in "
               << prepared.input->batches() << " batches on " << prepared.replicas
               << (prepared.replicas == 1 ? " replica" : " replicas");
  TD_ASSIGN_OR_RETURN(const EvalResult evaluated, metrics.Result(resident_.global_step()));
  const bool ranked = config_.keep_best.has_value() && config_.keep_best->evaluation == options.name;
  if (ranked) TD_RETURN_IF_ERROR(MetricOf(evaluated, config_.keep_best->metric, "RunConfig.keep_best").status());
  TD_LOG(INFO) << "Saving dict for global step " << resident_.global_step() << ": " << evaluated.ToString();
  EvalScope scope{.steps = options.steps,
                  .stopped = result.reason == StopReason::kStopRequested,
                  .raw_weights = !options.use_moving_average};
  scope.data = prepared.EvaluatedData();
  scope.job = job_.evaluation.has_value();
  if (!own) {
    scope.checkpoint = !options.checkpoint_path.empty() ? options.checkpoint_path
                       : assigned_.empty()              ? "initial values"
                                                        : "assigned values";
  }
  const std::string dir = EvalDir(config_.model_dir, options.name);
  if (own && !scope.stopped && IsCompared(dir, scope)) {
    best_.Update(options.name, evaluated, scope.kind(), ranked);
  }
  if (!is_chief()) {
    ++evaluations_;
    return evaluated;
  }
  // A directory that cannot be written is only a warning, since the result has been logged and is returned to the
  // caller.
  if (absl::Status status = AppendEvalResult(config_.file_env(), dir, evaluated, scope); !status.ok()) {
    TD_LOG(WARNING) << "The evaluation could not be recorded: " << status.message();
  } else if (auto summaries = event_files_.In(dir); summaries != nullptr && own && !scope.stopped) {
    std::vector<ScalarSummary> scalars = MetricScalars(evaluated);
    scalars.push_back({"loss", evaluated["loss"]});
    summaries->AddScalars(evaluated.global_step(), scalars);
    of_model->Write(evaluated.global_step(), *summaries);
    summaries->Flush();
  }
  ++evaluations_;
  TD_RETURN_IF_ERROR(TakeTraceStatus(result.trace));
  if (guard.ForgetsSignal()) {
    return SignalError(SignalGuard::pending(), absl::StrCat(" behind an evaluation, whose result is in ", dir));
  }
  return evaluated;
}

absl::StatusOr<Estimator::Impl::Prepared> Estimator::Impl::PrepareEvaluation(const InputFn& input_fn,
                                                                             const EvaluateOptions& options) {
  TD_ASSIGN_OR_RETURN(Prepared prepared, Prepare(Mode::kEval, input_fn));
  if (!prepared.dealer->infinite() || options.steps.has_value()) return prepared;
  std::string repeat;
  for (const StageThroughput& stage : prepared.dealer->throughput().stages) {
    if (absl::StartsWith(stage.stage, "Repeat")) repeat = absl::StrCat(", because of ", stage.stage);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("input_fn, mode eval: the dataset never ends", repeat,
                   ", so an evaluation of all of it would not either; leave Repeat out, give it a count, or say how "
                   "many steps to evaluate (EvaluateOptions.steps, EvalSpec.steps)"));
}

absl::StatusOr<std::vector<std::string>> Estimator::Impl::CheckEvaluation(const InputFn& input_fn,
                                                                          const EvaluateOptions& options,
                                                                          const ModeProgram* training) {
  TD_RETURN_IF_ERROR(CheckHooks("EvaluateOptions.hooks", options.hooks));
  TD_ASSIGN_OR_RETURN(const Prepared prepared, PrepareEvaluation(input_fn, options));
  if (training != nullptr) TD_RETURN_IF_ERROR(CheckSameVariables(*prepared.program, *training));
  const EstimatorSpec& spec = prepared.program->spec();
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.evaluation_hooks", spec.evaluation_hooks));
  std::vector<std::string> metrics = {"loss"};
  for (const auto& metric : spec.metrics) metrics.push_back(metric.first);
  std::sort(metrics.begin(), metrics.end());
  if (const auto& best = config_.keep_best; best.has_value() && best->evaluation == options.name) {
    TD_RETURN_IF_ERROR(Annotate(CheckMetricName(best->metric, metrics), "RunConfig.keep_best: "));
  }
  job_.evaluation_metrics[options.name] = metrics;
  return metrics;
}

bool Estimator::Impl::IsCompared(const std::string& dir, const EvalScope& scope) const {
  if (scope.job) return true;
  // A worker that is not the chief cannot see the log and assumes that there is no job. If the log cannot be read, the
  // error is reported when the result is written.
  std::optional<bool> beside_job;
  if (is_chief()) beside_job = CountsBesideJob(config_.file_env(), dir, scope).value_or(std::nullopt);
  // Without a job, an evaluation of a part of the input counts during a training, because it is probably made
  // repeatedly by the user's own training loop.
  return beside_job.value_or(!scope.steps.has_value() || resident_.training());
}

std::string Estimator::Impl::Prepared::EvaluatedData() const {
  const std::string fingerprint = DataFingerprint();
  return fingerprint.empty() ? "" : absl::StrCat(absl::Hex(Fingerprint64(fingerprint), absl::kZeroPad16));
}

absl::StatusOr<std::string> Estimator::Impl::EvaluatedData(const InputFn& input_fn) {
  Params::Placement placement;
  TD_ASSIGN_OR_RETURN(const Prepared prepared, PrepareInput(Mode::kEval, input_fn, &placement));
  return prepared.EvaluatedData();
}

absl::Status Estimator::Impl::Predict(const InputFn& input_fn, const PredictFn& on_prediction,
                                      const PredictOptions& options) {
  TD_RETURN_IF_ERROR(status_);
  if (!on_prediction) return absl::InvalidArgumentError("Predict: no function to give the predictions to");
  TD_RETURN_IF_ERROR(CheckHooks("PredictOptions.hooks", options.hooks));
  TD_RETURN_IF_ERROR(CheckOutputs());
  SignalGuard guard(config_.handle_signals);
  TD_ASSIGN_OR_RETURN(Prepared prepared, Prepare(Mode::kPredict, input_fn));
  TD_RETURN_IF_ERROR(CheckModelDirExists(options.checkpoint_path));
  const EstimatorSpec& spec = prepared.program->spec();
  std::vector<std::string> names;
  for (const auto& entry : spec.predictions) names.push_back(entry.first);
  HookList hooks = options.hooks;
  hooks.insert(hooks.end(), spec.prediction_hooks.begin(), spec.prediction_hooks.end());
  hooks.push_back(std::make_shared<PredictHook>(names, on_prediction));
  TD_RETURN_IF_ERROR(Finalize(prepared, hooks));
  if (config_.compile_only) return absl::OkStatus();
  TD_RETURN_IF_ERROR(LoadForInference(prepared, options.checkpoint_path, "predict").status());
  TD_RETURN_IF_ERROR(BindVariables(prepared, options.use_moving_average));

  LoopOptions loop;
  loop.mode = Mode::kPredict;
  loop.scalars["seed"] = state_.seed;
  loop.fetches = names;
  loop.tracer = tracing_.tracer();
  loop.stall_watch = stall_watch_.get();
  loop.fetchable = prepared.program->runner().output_names();
  loop.on_step = [&](const RunValues&) { return CheckParams(*prepared.program); };
  if (config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
  TD_ASSIGN_OR_RETURN(const LoopResult result,
                      RunLoop(prepared.program->runner(), *prepared.dealer, hooks, loop, resident_.step_counter()));
  TD_RETURN_IF_ERROR(CheckParams(*prepared.program));
  if (result.reason == StopReason::kSignal || guard.ForgetsSignal()) {
    return SignalError(SignalGuard::pending(), " during a prediction");
  }
  return TakeTraceStatus(result.trace);
}

}  // namespace tandem
