// Estimator::Train.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/done_marker.h"
#include "estimator/estimator_impl.h"
#include "estimator/extra_keys.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/nan_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/save_best_hook.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/model_dir.h"
#include "estimator/parameter_table.h"
#include "estimator/progress_hooks.h"
#include "estimator/record/checking_runner.h"
#include "estimator/run_loop.h"
#include "estimator/signals.h"
#include "estimator/training.h"
#include "estimator/training_metrics_hook.h"
#include "estimator/workers/share_checkpoint.h"

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

// Returns, for example, "1 replica" or "2 replicas".
std::string Count(int64_t n, const char* noun) { return absl::StrCat(n, " ", noun, n == 1 ? "" : "s"); }

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

absl::StatusOr<std::optional<CheckpointData>> Estimator::Impl::StartingPoint() {
  if (resident_.has_training() && !config_.checkpoints_enabled()) return std::nullopt;
  if (WorkerGroup* group = workers(); group != nullptr && !group->is_chief()) {
    return ShareCheckpoint(*group, std::nullopt);
  }
  if (served() && !is_chief()) return std::nullopt;  // the servers have the values
  const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading the checkpoints of ", config_.model_dir));
  TD_ASSIGN_OR_RETURN(const std::optional<std::string> latest, checkpoints_.Recover());
  std::optional<CheckpointData> data;
  if (latest.has_value()) {
    TD_ASSIGN_OR_RETURN(data, checkpoints_.Restore(*latest));
  }
  return workers() != nullptr ? ShareCheckpoint(*workers(), std::move(data)) : std::move(data);
}

absl::Status Estimator::Impl::RestoreBest(const CheckpointData& start, const std::string& path) {
  best_step_ = -1;
  if (auto it = start.extra.find(kBestKey); it != start.extra.end()) {
    TD_RETURN_IF_ERROR(Annotate(best_.Restore(it->second), absl::StrCat(path, ": ")));
  }
  if (!is_chief()) return absl::OkStatus();  // other workers may not see model_dir
  AddFromLogs(start.global_step, best_);
  return absl::OkStatus();
}

void Estimator::Impl::AddFromLogs(int64_t last_step, BestRecords& best) const {
  const absl::Status read = best.AddFromLogs(config_.file_env(), config_.model_dir, last_step);
  if (!read.ok() && !absl::IsNotFound(read)) {  // there may be no model_dir yet
    TD_LOG(WARNING) << "The records of evaluations could not be read: " << read.message();
  }
}

BestRecords Estimator::Impl::BestOnRecord() const {
  if (trains_here_ && !best_.records().empty()) return best_;
  BestRecords found = best_;
  AddFromLogs(/*last_step=*/std::numeric_limits<int64_t>::max(), found);
  return found;
}

// Sets variables, seed, step and input position: from the checkpoint, from the earlier training in this process, or
// anew.
absl::Status Estimator::Impl::StartFrom(const std::optional<CheckpointData>& start, const Prepared& prepared,
                                        bool input_from_start) {
  trains_here_ = true;
  const std::vector<VariableSpec>& variables = prepared.program->variables();
  std::string position, saved_data;
  // If each worker has an input of its own, only the chief's fingerprint could be saved.
  data_fingerprint_ = prepared.own_inputs == nullptr ? prepared.dealer->data_fingerprint() : "";
  if (prepared.workers != nullptr) {
    TD_RETURN_IF_ERROR(prepared.workers->Agree("what the training goes on from",
                                               start.has_value()          ? "a checkpoint"
                                               : resident_.has_training() ? "values in memory"
                                                                          : "first values",
                                               "keep the checkpoints of a training that goes on"));
  }
  TD_RETURN_IF_ERROR(resident_.BringBack());  // a hook's Begin may have evaluated another checkpoint
  if (start.has_value()) {
    const std::string path = JoinPath(config_.model_dir, absl::StrCat("model.ckpt-", start->global_step));
    TD_LOG(INFO) << "Restoring parameters from " << path;
    TD_RETURN_IF_ERROR(RestoreBest(*start, path));
    TD_RETURN_IF_ERROR(Annotate(step_scalars_.Restore(Extra(*start, kStepScalarsKey)), absl::StrCat(path, ": ")));
    absl::StatusOr<HookStates> states = HookStatesOf(*start);
    TD_RETURN_IF_ERROR(Annotate(states.status(), absl::StrCat(path, ": ")));
    hook_states_ = *std::move(states);
    TD_RETURN_IF_ERROR(resident_.LoadForTraining(*start, path, variables));
    if (config_.seed.has_value() && static_cast<uint64_t>(*config_.seed) != start->seed) {
      TD_LOG(WARNING) << "RunConfig.seed is " << *config_.seed << ", but " << path << " was trained with seed "
                      << start->seed << " and goes on with it; a new seed needs a new model_dir.";
    }
    seed_ = start->seed;
    position = start->iterator_state;
    saved_data = Extra(*start, kDataKey);
  } else if (resident_.has_training()) {
    TD_RETURN_IF_ERROR(resident_.GoOn(variables, seed_));
    if (!input_from_start) position = iterator_state_;
  } else {
    TD_RETURN_IF_ERROR(InitializeVariables(*prepared.program));
    TD_RETURN_IF_ERROR(step_scalars_.Restore(""));
    hook_states_.clear();
    if (prepared.workers != nullptr) TD_RETURN_IF_ERROR(TakeValuesOfChief(prepared));
  }
  if (!assigned_.empty()) TD_RETURN_IF_ERROR(ApplyAssigned(*prepared.program));
  if (assigned_step_.has_value()) *resident_.step_counter() = *assigned_step_;
  step_scalars_.SetDefaults(prepared.program->scalar_defaults());
  other_data_ = !saved_data.empty() && !data_fingerprint_.empty() && saved_data != data_fingerprint_;
  if (position.empty()) return absl::OkStatus();
  absl::Status status = served() ? RestoreServed(prepared, position) : prepared.RestorePosition(position);
  if (absl::IsFailedPrecondition(status)) {
    // A different pipeline is the user's decision, not a damaged checkpoint.
    TD_LOG(WARNING) << "The input starts from its beginning: " << status.message();
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(status);
  if (other_data_) {
    TD_LOG(WARNING) << "The data are not those that the checkpoint was trained with: they were { " << saved_data
                    << " } and are { " << data_fingerprint_ << " }. Training goes on at the position in the new data.";
  }
  return absl::OkStatus();
}

absl::Status Estimator::Impl::Save(const Prepared& prepared, int64_t step) {
  const ModeProgram& program = *prepared.program;
  if (served()) {
    TD_RETURN_IF_ERROR(ReadServed());
    step = resident_.global_step();  // step of the values just read; other workers go on changing the servers' values
  }
  TracePhase phase(tracer_.get(), absl::StrCat("checkpoint ", step));
  auto data = std::make_shared<CheckpointData>();
  TD_ASSIGN_OR_RETURN(VariableSnapshot taken, resident_.model().Snapshot(program.variables()));
  auto snapshot = std::make_shared<VariableSnapshot>(std::move(taken));
  data->global_step = step;
  data->seed = seed_;
  TD_ASSIGN_OR_RETURN(data->iterator_state, served() ? ServedPositions(prepared) : prepared.SavePosition());
  if (!data_fingerprint_.empty()) data->extra[kDataKey] = data_fingerprint_;
  if (std::string best = best_.ToJson(); !best.empty()) data->extra[kBestKey] = std::move(best);
  if (std::string set = step_scalars_.ToJson(); !set.empty()) data->extra[kStepScalarsKey] = std::move(set);
  TD_RETURN_IF_ERROR(SaveHookStates(hooks_, &hook_states_));
  AddToCheckpoint(hook_states_, data.get());
  DescribeRun();
  if (steps_writer_ != nullptr) steps_writer_->Flush();
  TD_LOG(INFO) << "Saving checkpoints for " << step << " into " << JoinPath(config_.model_dir, "model.ckpt") << ".";
  TD_RETURN_IF_ERROR(resident_.BeginSave());
  auto write = [this, data, snapshot, variables = program.variables()]() -> absl::StatusOr<std::string> {
    const StallWatch::Scope writing(*stall_watch_,
                                    absl::StrCat("Saving checkpoint ", data->global_step, " into ", config_.model_dir));
    TD_RETURN_IF_ERROR(ModelState::FillFrom(*snapshot, variables, data.get()));
    TD_RETURN_IF_ERROR(ModelState::CheckFinite(*data));
    return checkpoints_.Save(*data);
  };
  // The snapshot is a copy, so steps go on while it is written, and the first step need not wait for the disk.
  saving_.Start(std::move(write));
  return absl::OkStatus();
}

absl::Status Estimator::Impl::FinishSave(bool wait) {
  if (!saving_.pending()) return absl::OkStatus();
  const absl::StatusOr<std::optional<std::string>> path = saving_.Finish(wait);
  if (!path.ok()) {
    TD_RETURN_IF_ERROR(resident_.SaveFailed());
    return path.status();
  }
  return path->has_value() ? resident_.Saved(**path) : absl::OkStatus();
}

HookList Estimator::Impl::TrainHooks(const TrainOptions& options, const Prepared& prepared, int64_t restored_step,
                                     const HookList& evaluations) {
  const EstimatorSpec& spec = prepared.program->spec();
  HookList hooks;
  auto append = [&hooks](const HookList& more) { hooks.insert(hooks.end(), more.begin(), more.end()); };
  const bool chief = is_chief();
  std::shared_ptr<CheckpointSaverHook>& save = saver_;
  save = nullptr;
  if (config_.checkpoints_enabled() && chief) {
    CheckpointSaverHook::Options saver;
    saver.save_steps = config_.checkpoint_steps();
    saver.save_secs = config_.checkpoint_secs();
    saver.save = [this, &prepared](int64_t step) -> absl::Status {
      if (prepared.own_inputs != nullptr) TD_RETURN_IF_ERROR(prepared.workers->AnnounceSave());
      return Save(prepared, step);
    };
    saver.finish_save = [this](bool wait) { return FinishSave(wait); };
    saver.restored_step = restored_step;
    saver.values_changed = !assigned_.empty();
    saver.listeners = options.saving_listeners;
    save = std::make_shared<CheckpointSaverHook>(std::move(saver));
    hooks.push_back(save);
  }
  append(evaluations);
  if (chief) append(spec.training_chief_hooks);
  if (config_.log_step_count_steps > 0 && chief) {
    hooks.push_back(std::make_shared<StepCounterHook>(config_.log_step_count_steps));
  }
  if (chief) append(SummaryHooks(prepared));
  append(options.hooks);
  if (options.steps.has_value() || options.max_steps.has_value()) {
    hooks.push_back(std::make_shared<StopAtStepHook>(
        StopAtStepHook::Options{.num_steps = options.steps.value_or(0), .last_step = options.max_steps.value_or(0)}));
  }
  hooks.push_back(std::make_shared<NanTensorHook>(config_.fail_on_nan));
  if (config_.log_step_count_steps > 0 && chief) {
    hooks.push_back(
        std::make_shared<LoggingTensorHook>(std::vector<std::string>{"loss"}, config_.log_step_count_steps));
  }
  if (config_.log_step_count_steps > 0 && !spec.metrics.empty() && chief) {
    // For example "accuracy = 0.91, loss = 0.25 (steps 100 to 199)".
    auto report = [](const EvalResult& result, int64_t first, int64_t last) {
      TD_LOG(INFO) << result.ToString() << " (steps " << first << " to " << last << ")";
    };
    hooks.push_back(std::make_shared<TrainingMetricsHook>(spec.metrics, config_.log_step_count_steps, report));
  }
  append(spec.training_hooks);
  if (config_.progress && StderrIsTerminal() && chief) {
    append(ProgressHooks(options.max_steps.value_or(0), options.steps.value_or(0), *prepared.dealer, spec.metrics));
  }
  if (config_.keep_best.has_value() && save != nullptr) {
    hooks.push_back(std::make_shared<SaveBestHook>(save, [this] { return best_step_; }));
  }
  return hooks;
}

void Estimator::Impl::LogModel(const Prepared& prepared) {
  if (std::exchange(model_logged_, true)) return;
  const int64_t batch = prepared.dealer->batch_size();
  const int workers = prepared.workers != nullptr ? prepared.workers->size() : 1;
  if (served()) {
    const auto& servers = cluster_->addresses.at(TaskType::kParameterServer);
    TD_LOG(INFO) << Count(cluster_->world_size, "worker") << ", each with steps of its own, and "
                 << Count(static_cast<int64_t>(servers.size()), "parameter server")
                 << (config_.tls.has_value() ? ". TLS encrypts what they send to each other." : ".");
  }
  if (config_.accumulate_batches > 1) {
    TD_LOG(INFO) << config_.accumulate_batches << " batches of " << batch / config_.accumulate_batches
                 << " examples make one of " << batch << ".";
  }
  if (served()) {
    TD_LOG(INFO) << "batch " << batch << " x " << Count(prepared.replicas, "replica") << " in a step of each worker";
  } else {
    TD_LOG(INFO) << "batch " << batch << " x " << Count(prepared.replicas / workers, "replica") << " x "
                 << Count(workers, "worker") << " = " << batch * prepared.replicas;
  }
  if (workers > 1) {
    TD_LOG(INFO) << (prepared.own_inputs == nullptr
                         ? "Every worker reads the whole input and takes its own batches of it."
                     : config_.auto_shard == AutoShard::kFile
                         ? "Every worker reads files of its own (auto_shard: file)."
                         : "Every worker has an input of its own (auto_shard: off).");
  }
  for (absl::string_view line : absl::StrSplit(ParameterTable(prepared.program->variables()), '\n')) {
    TD_LOG(INFO) << line;
  }
}

absl::Status Estimator::Impl::Train(const InputFn& input_fn, const TrainOptions& options) {
  if (replays()) return ReplayTraining(input_fn, options);
  if (is_server_) return Serve(input_fn);
  TD_RETURN_IF_ERROR(CheckTrains());
  return Together([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<Training> training, Training::Start(this, input_fn, options));
    if (training == nullptr) return absl::OkStatus();
    WarnIfEndless(options, training->dealer());
    WarnIfShort(options, training->dealer());
    for (;;) {
      TD_ASSIGN_OR_RETURN(const bool more, training->Prepare());
      if (!more) return training->End();
      TD_RETURN_IF_ERROR(training->Run().status());
    }
  });
}

absl::Status Estimator::Impl::CheckTrains() const {
  TD_RETURN_IF_ERROR(status_);
  if (is_server_) {
    return absl::FailedPreconditionError(
        "Train: this process is a task of type ps; call Train or TrainAndEvaluate, which serve");
  }
  if (!is_evaluator_ || config_.compile_only) return absl::OkStatus();
  return absl::FailedPreconditionError("Train: this process is a task of type evaluator; call TrainAndEvaluate");
}

absl::StatusOr<std::unique_ptr<Training>> Training::Start(Estimator::Impl* estimator, const InputFn& input_fn,
                                                          const TrainOptions& options) {
  std::unique_ptr<Training> training(new Training(estimator, options));
  TD_ASSIGN_OR_RETURN(const bool begun, training->Begin(input_fn));
  return begun ? std::move(training) : nullptr;
}

Training::Training(Estimator::Impl* estimator, const TrainOptions& options)
    : estimator_(*estimator), options_(options) {}

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
  WorkerGroup* const workers = estimator_.workers();
  if (workers == nullptr) return absl::OkStatus();
  const auto text = [](const std::optional<int64_t>& n) { return n.has_value() ? absl::StrCat(*n) : "none"; };
  return workers->Agree("the options of Train",
                        absl::StrCat("steps: ", text(options_.steps), ", max_steps: ", text(options_.max_steps),
                                     ", checkpoints: ", config.checkpoints_enabled() ? "on" : "off"),
                        "all workers call Train alike");
}

absl::StatusOr<bool> Training::Begin(const InputFn& input_fn) {
  Estimator::Impl& e = estimator_;
  TD_RETURN_IF_ERROR(CheckCall());
  guard_.emplace(e.config_.handle_signals);  // before waiting for other workers, so that a signal can end the wait
  if (e.is_chief()) TD_RETURN_IF_ERROR(PrepareModelDir(e.config_.file_env(), e.config_.model_dir));
  TD_RETURN_IF_ERROR(e.CheckOutputs());
  if (e.config_.compile_only) {
    TD_ASSIGN_OR_RETURN(prepared_, e.Prepare(Mode::kTrain, input_fn));
    e.LogModel(prepared_);
    TD_RETURN_IF_ERROR(e.Finalize(prepared_, e.TrainHooks(options_, prepared_, -1)));
    return false;
  }

  // A training without checkpoints writes nothing that another one could damage, so it needs no lock.
  if (e.config_.checkpoints_enabled() && e.is_chief()) {
    TD_ASSIGN_OR_RETURN(lock_, LockModelDir(e.config_.file_env(), e.config_.model_dir, /*owner=*/&e.config_));
    DeleteLeftovers(e.config_.file_env(), e.config_.model_dir);
  }
  TD_RETURN_IF_ERROR(e.resident_.BringBack());
  TD_ASSIGN_OR_RETURN(const std::optional<CheckpointData> start, e.StartingPoint());
  int64_t start_step = e.resident_.has_training() ? e.resident_.global_step() : 0;
  if (start.has_value()) start_step = start->global_step;
  // With parameter servers the other workers must be told, so training starts even if no step is left.
  if (!e.served() && options_.max_steps.has_value() && start_step >= *options_.max_steps) {
    TD_LOG(INFO) << "Skipping training since max_steps has already saved.";
    e.last_train_ = TrainResult{.global_step = start_step, .reason = StopReason::kMaxRounds};
    return false;
  }

  TD_ASSIGN_OR_RETURN(prepared_, e.Prepare(Mode::kTrain, input_fn));
  e.LogModel(prepared_);
  HookList evaluations;
  if (e.job_.has_value()) {
    if (e.job_->check_evaluations) TD_RETURN_IF_ERROR(e.job_->check_evaluations(*prepared_.program));
    TD_ASSIGN_OR_RETURN(evaluations, e.job_->evaluation_hooks(*prepared_.dealer));
  }
  const HookList hooks = e.TrainHooks(options_, prepared_, start.has_value() ? start->global_step : -1, evaluations);
  TD_RETURN_IF_ERROR(CheckCheckpointKeys(hooks));
  TD_RETURN_IF_ERROR(e.Finalize(prepared_, hooks));
  TD_RETURN_IF_ERROR(e.StartFrom(start, prepared_, options_.input_from_start));
  TD_RETURN_IF_ERROR(RestoreHookStates(hooks, e.hook_states_, e.resident_.checkpoint()));
  e.hooks_ = hooks;
  TD_RETURN_IF_ERROR(e.BindVariables(prepared_, /*averages=*/false));
  TD_ASSIGN_OR_RETURN(ResidentState::TrainingScope scope, e.resident_.StartTraining());
  scope_.emplace(std::move(scope));
  StepRunner* runner = &prepared_.program->runner();
  if (e.served()) {
    TD_RETURN_IF_ERROR(e.BeginServed(prepared_));
    served_runner_ = std::make_unique<ServedRunner>(&prepared_.program->runner(), e.served_.get());
    runner = served_runner_.get();
  }
  if (e.config_.check_steps_every > 0) {
    checking_runner_ = std::make_unique<CheckingRunner>(
        runner, e.config_.check_steps_every, e.resident_.model().store().get(), prepared_.program->variables());
    runner = checking_runner_.get();
  }
  recording_runner_ = e.RecordSteps(prepared_, runner);
  if (recording_runner_ != nullptr) runner = recording_runner_.get();
  TD_RETURN_IF_ERROR(GoOnWithJob());
  if (e.is_chief()) watched_ = e.MakeWatchedValues(*prepared_.program);
  loop_.emplace(*runner, prepared_.source(), hooks, MakeLoopOptions(), e.resident_.step_counter());
  if (prepared_.own_inputs != nullptr) {
    prepared_.workers->set_on_save([inputs = prepared_.own_inputs.get()] { return inputs->SaveState().status(); });
  }
  TD_RETURN_IF_ERROR(loop_->Begin());
  return true;
}

absl::Status Training::GoOnWithJob() {
  const Estimator::Impl& e = estimator_;
  if (!e.job_.has_value()) {
    // Somebody trains by hand: an interrupted job must not go on from what is saved now.
    const bool saves = e.is_chief() && e.config_.checkpoints_enabled();
    return saves ? RemoveUnfinishedMarker(e.config_.file_env(), e.config_.model_dir) : absl::OkStatus();
  }
  const std::optional<int64_t>& since = e.job_->interrupted_since;
  keeps_end_ = since.has_value() && *since < e.resident_.global_step() && !e.other_data_;
  if (keeps_end_) prepared_.KeepEnd();
  return absl::OkStatus();
}

LoopOptions Training::MakeLoopOptions() {
  Estimator::Impl& e = estimator_;
  LoopOptions loop;
  loop.mode = Mode::kTrain;
  loop.scalars["seed"] = e.seed_;
  loop.step_scalars = &e.step_scalars_;
  loop.saves = e.config_.checkpoints_enabled();
  loop.variables = &e;
  loop.fetches = {"loss"};
  loop.tracer = e.tracer_.get();
  loop.stall_watch = e.stall_watch_.get();
  loop.fetchable = prepared_.program->runner().output_names();
  loop.on_step = [this, &e](const RunValues& values) -> absl::Status {
    if (values.applied) TD_RETURN_IF_ERROR(e.resident_.StepTaken());
    e.assigned_.clear();  // the training has started with them
    e.assigned_step_.reset();
    if (watched_ != nullptr) watched_->Look(values);
    // After the first step all hooks have been called.
    if (std::exchange(stepped_, true)) e.WarnOfUnreadParams();
    return e.CheckParams(*prepared_.program);
  };
  if (e.config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
  e.MeetBetweenSteps(prepared_, &loop);
  if (e.served()) {
    loop.agree = [&e](std::optional<StopReason> mine) -> absl::StatusOr<std::optional<StopReason>> {
      return mine.has_value() ? mine : e.WishOfChief();
    };
  }
  return loop;
}

// After an error the loop's hooks get no End; writes that were begun are still finished.
Training::~Training() {
  estimator_.between_own_steps_ = false;
  estimator_.ending_.reset();
  estimator_.saver_ = nullptr;
  estimator_.hooks_.clear();
  estimator_.DescribeRun();
  if (estimator_.steps_writer_ != nullptr) estimator_.steps_writer_->Flush();
  if (prepared_.workers != nullptr) prepared_.workers->set_on_save(nullptr);
  if (absl::Status saved = estimator_.FinishSave(/*wait=*/true); !saved.ok()) TD_LOG(ERROR) << saved.message();
}

absl::Status Training::Save() {
  if (!estimator_.config_.checkpoints_enabled()) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession::Save: checkpoints are off; set RunConfig.save_checkpoints_steps or "
        "save_checkpoints_secs");
  }
  return estimator_.saver_ != nullptr ? estimator_.saver_->SaveAndWait(loop_->context()) : absl::OkStatus();
}

absl::Status Training::End() {
  Estimator::Impl& e = estimator_;
  e.ending_ = loop_->reason();
  if (e.served()) {
    TD_ASSIGN_OR_RETURN(e.ending_, e.EndServed(*e.ending_));
  }
  TD_ASSIGN_OR_RETURN(LoopResult result, loop_->End());
  e.assigned_.clear();
  e.assigned_step_.reset();
  TD_RETURN_IF_ERROR(SaveHookStates(e.hooks_, &e.hook_states_));
  // Also counts a signal that came after the last step.
  result.reason = guard_->ForgetsSignal() ? StopReason::kSignal : *e.ending_;
  TD_RETURN_IF_ERROR(e.CheckParams(*prepared_.program));
  if (prepared_.workers != nullptr) TD_RETURN_IF_ERROR(prepared_.workers->MeetAtEnd());
  TD_ASSIGN_OR_RETURN(e.iterator_state_, prepared_.SavePosition());
  const bool reached = options_.max_steps.has_value() && e.resident_.global_step() >= *options_.max_steps;
  e.last_train_ = TrainResult{.global_step = e.resident_.global_step(),
                              .steps = result.steps,
                              .loss = result.last_loss,
                              .reason = reached ? StopReason::kMaxRounds : result.reason,
                              .stop_why = reached ? "" : result.stop_why};
  TD_RETURN_IF_ERROR(e.SignalErrorOf(
      result, absl::StrCat(" after global step ", e.resident_.global_step(),
                           e.served() && !e.is_chief()       ? "; checkpoints are the chief's"
                           : e.config_.checkpoints_enabled() ? ", whose checkpoint is saved; start again to go on"
                                                             : "; checkpoints are off, so nothing was saved")));
  if (result.steps == 0 && !result.stop_why.empty()) {
    TD_LOG(INFO) << "Training with estimator made no steps: " << result.stop_why << ".";
  } else if (result.steps == 0 && keeps_end_) {
    TD_LOG(INFO) << "The input had ended at global step " << e.resident_.global_step()
                 << ", where this job was interrupted; what follows the training is done now.";
  } else if (result.steps == 0 && prepared_.own_batches != nullptr && prepared_.own_batches->had_ended()) {
    TD_LOG(INFO) << "This worker's input had ended where the checkpoint was saved; those of others may go on.";
  } else if (result.steps == 0) {
    TD_LOG(WARNING) << "Training with estimator made no steps. Perhaps input is empty or misspecified (a batch that is "
                       "larger than the data is dropped by drop_remainder).";
  } else {
    TD_LOG(INFO) << InputReport(result, *prepared_.dealer);
    TD_LOG(INFO) << absl::StrFormat("Loss for final step: %.8g.", result.last_loss);
    if (e.last_train_->reason == StopReason::kEndOfInput) {
      e.WarnOfEndedInput(options_, *prepared_.dealer, result.steps);
    }
  }
  if (stepped_) e.WarnOfUnreadParams();
  scope_->End();
  return e.TakeTraceStatus(result.trace);
}

}  // namespace tandem
