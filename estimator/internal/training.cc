#include "estimator/internal/training.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/count_text.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/signals.h"
#include "estimator/model/parameter_table.h"
#include "estimator/record/checking_runner.h"

namespace tandem {
namespace {

absl::Status CheckTrainOptions(const TrainOptions& options) {
  if (options.steps.has_value() && options.max_steps.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("Train: steps and max_steps cannot be both set, got ",
                                                   *options.steps, " and ", *options.max_steps, "; choose one"));
  }
  for (const auto& [name, value] :
       {std::make_pair("steps", options.steps), std::make_pair("max_steps", options.max_steps)}) {
    if (value.has_value() && *value <= 0) {
      return absl::InvalidArgumentError(absl::StrCat("Train: ", name, " must be positive, got ", *value,
                                                     "; leave it out to train to the end of the input"));
    }
  }
  return CheckHooks("TrainOptions.hooks", options.hooks);
}

// Returns, for example, "Input: training waited 0.4 % of the time for batches; the pipeline's threads used 2.1 % of a
// core; the slowest stage is Map (input.cc:31), with 71 % of the work."
std::string InputReport(const LoopResult& result, const BatchDealer& dealer) {
  const double wall = std::max(result.seconds, 1e-9);
  return absl::StrFormat(
      "Input: training waited %.1f %% of the time for batches; the pipeline's threads used %.1f %% of a core; %s.",
      100 * std::min(1.0, result.input_secs / wall), 100 * dealer.ThreadCpuSeconds() / wall,
      dealer.throughput().BottleneckText());
}

}  // namespace

absl::Status Estimator::Impl::Train(const InputFn& input_fn, const TrainOptions& options) {
  if (replays()) return ReplayTraining(input_fn, options);
  if (cooperation_->is_server()) return Serve(input_fn);
  TD_RETURN_IF_ERROR(CheckTrains());
  return Together([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<Training> training, Training::Start(this, input_fn, options));
    if (training == nullptr) return absl::OkStatus();
    warnings_->EndlessInput(options, training->dealer());
    warnings_->ShortInput(options, training->dealer(), resident_.global_step());
    for (;;) {
      TD_ASSIGN_OR_RETURN(const bool more, training->Prepare());
      if (!more) return training->End();
      TD_RETURN_IF_ERROR(training->Run().status());
    }
  });
}

absl::Status Estimator::Impl::CheckTrains() const {
  TD_RETURN_IF_ERROR(status_);
  if (cooperation_->is_server()) {
    return absl::FailedPreconditionError(
        "Train: this process is a task of type ps; call Train or TrainAndEvaluate, which serve");
  }
  if (!cooperation_->is_evaluator() || config_.compile_only) return absl::OkStatus();
  return absl::FailedPreconditionError("Train: this process is a task of type evaluator; call TrainAndEvaluate");
}

absl::StatusOr<std::unique_ptr<Training>> Training::Start(Estimator::Impl* estimator, const InputFn& input_fn,
                                                          const TrainOptions& options) {
  std::unique_ptr<Training> training(new Training(estimator, options));
  TD_ASSIGN_OR_RETURN(const bool begun, training->Begin(input_fn));
  return begun ? std::move(training) : nullptr;
}

std::optional<StopReason> Estimator::Impl::ending() const {
  return training_ != nullptr ? training_->ending() : std::nullopt;
}

Training::Training(Estimator::Impl* estimator, const TrainOptions& options)
    : estimator_(*estimator), options_(options) {}

void Training::LogModel() const {
  Estimator::Impl& e = estimator_;
  if (std::exchange(e.model_logged_, true)) return;
  const int64_t batch = prepared_.dealer->batch_size(), pieces = e.config_.accumulate_batches;
  const Cooperation& cooperation = e.cooperation();
  if (const std::string workers = cooperation.WorkersText(); !workers.empty()) TD_LOG(INFO) << workers;
  if (pieces > 1) {
    TD_LOG(INFO) << pieces << " batches of " << batch / pieces << " examples make one of " << batch << ".";
  }
  if (cooperation.asynchronous()) {
    TD_LOG(INFO) << "batch " << batch << " x " << CountText(prepared_.replicas, "replica")
                 << " in a step of each worker";
  } else {
    TD_LOG(INFO) << "batch " << batch << " x " << CountText(prepared_.replicas / prepared_.workers, "replica") << " x "
                 << CountText(prepared_.workers, "worker") << " = " << batch * prepared_.replicas;
  }
  if (const std::string input = cooperation.InputText(*prepared_.input); !input.empty()) TD_LOG(INFO) << input;
  for (absl::string_view line : absl::StrSplit(ParameterTable(prepared_.program->variables()), '\n')) {
    TD_LOG(INFO) << line;
  }
}

absl::Status Training::CheckCall() {
  const RunConfig& config = estimator_.config_;
  TD_RETURN_IF_ERROR(CheckTrainOptions(options_));
  if (estimator_.resident_.training()) {
    return absl::FailedPreconditionError(
        "Train was called by a hook or listener of a Train, or before a MonitoredTrainingSession was closed");
  }
  if (!options_.saving_listeners.empty() && !config.checkpoints_enabled()) {
    return absl::InvalidArgumentError(
        "Train: saving_listeners need checkpoints; set save_checkpoints_steps or save_checkpoints_secs");
  }
  TD_RETURN_IF_ERROR(estimator_.JoinWorkers());
  const auto text = [](const std::optional<int64_t>& n) { return n.has_value() ? absl::StrCat(*n) : "none"; };
  return estimator_.cooperation().Agree(
      "the options of Train",
      absl::StrCat("steps: ", text(options_.steps), ", max_steps: ", text(options_.max_steps),
                   ", checkpoints: ", config.checkpoints_enabled() ? "on" : "off"),
      "all workers call Train alike");
}

absl::StatusOr<bool> Training::Begin(const InputFn& input_fn) {
  Estimator::Impl& e = estimator_;
  TD_RETURN_IF_ERROR(CheckCall());
  e.training_ = this;
  // Made before this worker waits for others, so that a signal can end the wait.
  guard_.emplace(e.config_.handle_signals);
  if (e.is_chief()) TD_RETURN_IF_ERROR(PrepareModelDir(e.config_.file_env(), e.config_.model_dir));
  TD_RETURN_IF_ERROR(e.CheckOutputs());
  if (e.config_.compile_only) {
    TD_ASSIGN_OR_RETURN(prepared_, e.Prepare(Mode::kTrain, input_fn));
    LogModel();
    TD_RETURN_IF_ERROR(e.Finalize(prepared_, MakeHooks(/*restored_step=*/-1)));
    return false;
  }

  // A training without checkpoints writes nothing that another one could damage, so it needs no lock.
  if (e.config_.checkpoints_enabled() && e.is_chief()) {
    TD_ASSIGN_OR_RETURN(lock_, LockModelDir(e.config_.file_env(), e.config_.model_dir, /*owner=*/&e.config_));
    DeleteLeftovers(e.config_.file_env(), e.config_.model_dir);
  }
  TD_RETURN_IF_ERROR(e.resident_.BringBack());
  TD_ASSIGN_OR_RETURN(const std::optional<CheckpointData> start, StartingPoint());
  int64_t start_step = e.resident_.has_training() ? e.resident_.global_step() : 0;
  if (start.has_value()) start_step = start->global_step;
  // With parameter servers this worker must tell the others that it makes no step, so training begins even if no step
  // is left.
  if (!e.cooperation().asynchronous() && options_.max_steps.has_value() && start_step >= *options_.max_steps) {
    TD_LOG(INFO) << "Skipping training since max_steps has already saved.";
    e.last_train_ = TrainResult{.global_step = start_step, .reason = StopReason::kMaxRounds};
    return false;
  }

  TD_ASSIGN_OR_RETURN(prepared_, e.Prepare(Mode::kTrain, input_fn));
  LogModel();
  HookList evaluations;
  if (const auto& job = e.job_.job; job.has_value()) {
    if (job->check_evaluations) TD_RETURN_IF_ERROR(job->check_evaluations(*prepared_.program));
    TD_ASSIGN_OR_RETURN(evaluations, job->evaluation_hooks(*prepared_.dealer));
  }
  hooks_ = MakeHooks(start.has_value() ? start->global_step : -1, evaluations);
  TD_RETURN_IF_ERROR(CheckCheckpointKeys(hooks_));
  TD_RETURN_IF_ERROR(e.Finalize(prepared_, hooks_));
  TD_RETURN_IF_ERROR(StartFrom(start));
  TD_RETURN_IF_ERROR(RestoreHookStates(hooks_, e.state_.hook_states, e.resident_.checkpoint()));
  TD_RETURN_IF_ERROR(e.BindVariables(prepared_, /*averages=*/false));
  TD_ASSIGN_OR_RETURN(ResidentState::TrainingScope scope, e.resident_.StartTraining());
  scope_.emplace(std::move(scope));
  if (e.is_chief()) watched_ = e.warnings_->WatchValues(*prepared_.program);
  loop_.emplace(*MakeRunner(), *prepared_.input, hooks_, MakeLoopOptions(), e.resident_.step_counter());
  TD_RETURN_IF_ERROR(e.cooperation().BeginTraining(*prepared_.program, *prepared_.input, *loop_));
  TD_RETURN_IF_ERROR(GoOnWithJob());
  return true;
}

StepRunner* Training::MakeRunner() {
  Estimator::Impl& e = estimator_;
  StepRunner* runner = &prepared_.program->runner();
  served_runner_ = e.cooperation().MakeRunner(*prepared_.program);
  if (served_runner_ != nullptr) runner = served_runner_.get();
  if (e.config_.check_steps_every > 0) {
    checking_runner_ = std::make_unique<CheckingRunner>(
        runner, e.config_.check_steps_every, e.resident_.model().store().get(), prepared_.program->variables());
    runner = checking_runner_.get();
  }
  recording_runner_ = RecordSteps(runner);
  return recording_runner_ != nullptr ? recording_runner_.get() : runner;
}

absl::Status Training::GoOnWithJob() {
  const Estimator::Impl& e = estimator_;
  if (!e.job_.job.has_value()) {
    // The user calls Train and not TrainAndEvaluate. An interrupted job must not go on from the checkpoints of this
    // training, so its marker is removed.
    const bool saves = e.is_chief() && e.config_.checkpoints_enabled();
    return saves ? RemoveUnfinishedMarker(e.config_.file_env(), e.config_.model_dir) : absl::OkStatus();
  }
  const std::optional<int64_t>& since = e.job_.job->interrupted_since;
  keeps_end_ = since.has_value() && *since < e.resident_.global_step() && !other_data_;
  if (keeps_end_) prepared_.input->KeepEnd();
  return absl::OkStatus();
}

LoopOptions Training::MakeLoopOptions() {
  Estimator::Impl& e = estimator_;
  LoopOptions loop;
  loop.mode = Mode::kTrain;
  loop.scalars["seed"] = e.state_.seed;
  loop.step_scalars = &e.state_.step_scalars;
  loop.saves = e.config_.checkpoints_enabled();
  loop.variables = &e;
  loop.fetches = {"loss"};
  loop.tracer = e.tracing_.tracer();
  loop.stall_watch = e.stall_watch_.get();
  loop.fetchable = prepared_.program->runner().output_names();
  loop.on_step = [this, &e](const RunValues& values) -> absl::Status {
    if (values.applied) TD_RETURN_IF_ERROR(e.resident_.StepTaken());
    e.assigned_.Clear();  // the assigned values are part of the training now
    if (watched_ != nullptr) watched_->Look(values);
    // By the end of the first step all hooks have been called, so all of them could read their params.
    if (std::exchange(stepped_, true)) e.warnings_->UnreadParams();
    return e.CheckParams(*prepared_.program);
  };
  if (e.config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
  e.cooperation().ConfigureLoop(&loop, [&e] { return e.state_.step_scalars.Fingerprint(); });
  return loop;
}

// After an error the hooks' End is not called, but the writing of files that has begun is finished.
Training::~Training() {
  DescribeRun();
  if (estimator_.state_.steps_writer != nullptr) estimator_.state_.steps_writer->Flush();
  if (absl::Status saved = FinishSave(/*wait=*/true); !saved.ok()) TD_LOG(ERROR) << saved.message();
  // Begin was refused, for example because it was called inside of another training.
  if (estimator_.training_ != this) return;
  estimator_.training_ = nullptr;
  estimator_.cooperation().TrainingOver();
}

void Training::NoteChange() {
  if (saver_ != nullptr) saver_->NoteChange();
}

absl::Status Training::Save() {
  if (!estimator_.config_.checkpoints_enabled()) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession::Save: checkpoints are off; set RunConfig.save_checkpoints_steps or "
        "save_checkpoints_secs");
  }
  return saver_ != nullptr ? saver_->SaveAndWait(loop_->context()) : absl::OkStatus();
}

absl::Status Training::End() {
  Estimator::Impl& e = estimator_;
  ending_ = loop_->reason();
  TD_ASSIGN_OR_RETURN(ending_, e.cooperation().EndSteps(*ending_));
  TD_ASSIGN_OR_RETURN(LoopResult result, loop_->End());
  e.assigned_.Clear();
  TD_RETURN_IF_ERROR(SaveHookStates(hooks_, &e.state_.hook_states));
  // A signal that came after the last step counts too.
  result.reason = guard_->ForgetsSignal() ? StopReason::kSignal : *ending_;
  TD_RETURN_IF_ERROR(e.CheckParams(*prepared_.program));
  TD_RETURN_IF_ERROR(e.cooperation().MeetAtEnd());
  TD_ASSIGN_OR_RETURN(e.state_.input_position, prepared_.input->SavePosition());
  const bool reached = options_.max_steps.has_value() && e.resident_.global_step() >= *options_.max_steps;
  e.last_train_ = TrainResult{.global_step = e.resident_.global_step(),
                              .steps = result.steps,
                              .loss = result.last_loss,
                              .reason = reached ? StopReason::kMaxRounds : result.reason,
                              .stop_why = reached ? "" : result.stop_why};
  TD_RETURN_IF_ERROR(e.SignalErrorOf(
      result, absl::StrCat(" after global step ", e.resident_.global_step(),
                           e.cooperation().asynchronous() && !e.is_chief() ? "; checkpoints are the chief's"
                           : e.config_.checkpoints_enabled() ? ", whose checkpoint is saved; start again to go on"
                                                             : "; checkpoints are off, so nothing was saved")));
  LogEnd(result);
  if (stepped_) e.warnings_->UnreadParams();
  scope_->End();
  return e.TakeTraceStatus(result.trace);
}

void Training::LogEnd(const LoopResult& result) {
  Estimator::Impl& e = estimator_;
  if (result.steps == 0 && !result.stop_why.empty()) {
    TD_LOG(INFO) << "Training with estimator made no steps: " << result.stop_why << ".";
  } else if (result.steps == 0 && keeps_end_) {
    TD_LOG(INFO) << "The input had ended at global step " << e.resident_.global_step()
                 << ", where this job was interrupted; what follows the training is done now.";
  } else if (result.steps == 0 && prepared_.input->had_ended()) {
    TD_LOG(INFO) << "This worker's input had ended where the checkpoint was saved; those of others may go on.";
  } else if (result.steps == 0) {
    TD_LOG(WARNING) << "Training with estimator made no steps. Perhaps input is empty or misspecified (a batch that is "
                       "larger than the data is dropped by drop_remainder).";
  } else {
    TD_LOG(INFO) << InputReport(result, *prepared_.dealer);
    TD_LOG(INFO) << absl::StrFormat("Loss for final step: %.8g.", result.last_loss);
    if (e.last_train_->reason == StopReason::kEndOfInput) {
      e.warnings_->EndedInput(options_, *prepared_.dealer, result.steps, e.resident_.global_step());
    }
  }
}

}  // namespace tandem
