// Estimator::Train.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/estimator_impl.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/nan_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/save_best_hook.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/model_dir.h"
#include "estimator/parameter_table.h"
#include "estimator/progress_hooks.h"
#include "estimator/run_loop.h"
#include "estimator/signals.h"
#include "estimator/training_metrics_hook.h"
#include "estimator/workers/share_checkpoint.h"

namespace tandem {
namespace {

// In CheckpointData::extra.
constexpr char kBestKey[] = "best";
constexpr char kDataKey[] = "data";  // Dataset::Fingerprint
constexpr char kStepScalarsKey[] = "step_scalars";
constexpr char kPlateauKey[] = "reduce_on_plateau";

std::string Extra(const CheckpointData& data, const char* key) {
  auto it = data.extra.find(key);
  return it == data.extra.end() ? "" : it->second;
}

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

// "1 replica", "2 replicas".
std::string Count(int64_t n, const char* noun) { return absl::StrCat(n, " ", noun, n == 1 ? "" : "s"); }

// "Input: training waited 0.4 % of the time for batches; the pipeline's threads used 2.1 % of a core; the slowest stage
// is Map (input.cc:31), with 71 % of the work."
std::string InputReport(const LoopResult& result, const BatchDealer& dealer) {
  const double wall = std::max(result.seconds, 1e-9);
  return absl::StrFormat(
      "Input: training waited %.1f %% of the time for batches; the pipeline's threads used %.1f %% of a core; %s.",
      100 * std::min(1.0, result.input_seconds / wall), 100 * dealer.ThreadCpuSeconds() / wall,
      dealer.throughput().BottleneckText());
}

}  // namespace

absl::StatusOr<std::optional<CheckpointData>> Estimator::Impl::StartingPoint() {
  if (resident_.has_training() && !config_.checkpoints_enabled()) return std::nullopt;
  if (WorkerGroup* group = workers(); group != nullptr && !group->is_chief()) {
    return ShareCheckpoint(*group, std::nullopt);
  }
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
  if (!is_chief()) return absl::OkStatus();  // model_dir may be out of its reach
  AddFromLogs(start.global_step, best_);
  return absl::OkStatus();
}

void Estimator::Impl::AddFromLogs(int64_t last_step, BestRecords& best) const {
  const absl::Status read = best.AddFromLogs(config_.file_env(), config_.model_dir, last_step, compared_part_);
  if (!read.ok() && !absl::IsNotFound(read)) {  // there may be no model_dir yet
    TD_LOG(WARNING) << "The records of evaluations could not be read: " << read.message();
  }
}

BestRecords Estimator::Impl::BestOnRecord() const {
  if (!best_.records().empty()) return best_;
  BestRecords found(config_.keep_best);
  AddFromLogs(/*last_step=*/std::numeric_limits<int64_t>::max(), found);
  return found;
}

// Variables, seed, step and input position: those of the checkpoint, of the training before in this process, or new.
absl::Status Estimator::Impl::StartFrom(const std::optional<CheckpointData>& start, const Prepared& prepared) {
  const std::vector<VariableSpec>& variables = prepared.program->variables();
  std::string position, saved_data;
  // Of inputs of one's own only the chief's could be kept.
  data_fingerprint_ = prepared.own_inputs == nullptr ? prepared.dealer->data_fingerprint() : "";
  if (prepared.workers != nullptr) {
    TD_RETURN_IF_ERROR(prepared.workers->Agree("what the training goes on from",
                                               start.has_value()          ? "a checkpoint"
                                               : resident_.has_training() ? "values in memory"
                                                                          : "first values",
                                               "keep the checkpoints of a training that goes on"));
  }
  TD_RETURN_IF_ERROR(resident_.BringBack());  // the Begin of a hook may have evaluated another checkpoint
  if (start.has_value()) {
    const std::string path = JoinPath(config_.model_dir, absl::StrCat("model.ckpt-", start->global_step));
    TD_LOG(INFO) << "Restoring parameters from " << path;
    TD_RETURN_IF_ERROR(RestoreBest(*start, path));
    TD_RETURN_IF_ERROR(Annotate(step_scalars_.Restore(Extra(*start, kStepScalarsKey)), absl::StrCat(path, ": ")));
    plateau_state_ = Extra(*start, kPlateauKey);
    TD_RETURN_IF_ERROR(resident_.LoadForTraining(*start, path, variables));
    if (config_.seed.has_value() && static_cast<uint64_t>(*config_.seed) != start->seed) {
      TD_LOG(WARNING) << "RunConfig.seed is " << *config_.seed << ", but " << path << " was trained with seed "
                      << start->seed << " and goes on with it; a new seed needs a new model_dir.";
    }
    seed_ = start->seed;
    position = start->iterator_state;
    if (auto it = start->extra.find(kDataKey); it != start->extra.end()) saved_data = it->second;
  } else if (resident_.has_training()) {
    TD_RETURN_IF_ERROR(resident_.GoOn(variables, seed_));
    position = iterator_state_;
  } else {
    TD_RETURN_IF_ERROR(InitializeVariables(*prepared.program));
    TD_RETURN_IF_ERROR(step_scalars_.Restore(""));
    plateau_state_.clear();
    if (prepared.workers != nullptr) TD_RETURN_IF_ERROR(TakeValuesOfChief(prepared));
  }
  step_scalars_.SetDefaults(prepared.program->scalar_defaults());
  if (position.empty()) return absl::OkStatus();
  absl::Status status = prepared.RestorePosition(position);
  if (absl::IsFailedPrecondition(status)) {
    // Another pipeline is a user's decision, not damage.
    TD_LOG(WARNING) << "The input starts from its beginning: " << status.message();
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(status);
  if (!saved_data.empty() && !data_fingerprint_.empty() && saved_data != data_fingerprint_) {
    TD_LOG(WARNING) << "The data are not those that the checkpoint was trained with: they were { " << saved_data
                    << " } and are { " << data_fingerprint_ << " }. Training goes on at the position in the new data.";
  }
  return absl::OkStatus();
}

absl::Status Estimator::Impl::Save(const Prepared& prepared, int64_t step) {
  const ModeProgram& program = *prepared.program;
  TracePhase phase(tracer_.get(), absl::StrCat("checkpoint ", step));
  auto data = std::make_shared<CheckpointData>();
  TD_ASSIGN_OR_RETURN(VariableSnapshot taken, resident_.model().Snapshot(program.variables()));
  auto snapshot = std::make_shared<VariableSnapshot>(std::move(taken));
  data->global_step = step;
  data->seed = seed_;
  TD_ASSIGN_OR_RETURN(data->iterator_state, prepared.SavePosition());
  if (!data_fingerprint_.empty()) data->extra[kDataKey] = data_fingerprint_;
  if (std::string best = best_.ToJson(); !best.empty()) data->extra[kBestKey] = std::move(best);
  if (std::string set = step_scalars_.ToJson(); !set.empty()) data->extra[kStepScalarsKey] = std::move(set);
  if (!plateau_state_.empty()) data->extra[kPlateauKey] = plateau_state_;
  TD_LOG(INFO) << "Saving checkpoints for " << step << " into " << JoinPath(config_.model_dir, "model.ckpt") << ".";
  TD_RETURN_IF_ERROR(resident_.BeginSave());
  auto write = [this, data, snapshot, variables = program.variables()]() -> absl::StatusOr<std::string> {
    const StallWatch::Scope writing(*stall_watch_,
                                    absl::StrCat("Saving checkpoint ", data->global_step, " into ", config_.model_dir));
    TD_RETURN_IF_ERROR(ModelState::FillFrom(*snapshot, variables, data.get()));
    TD_RETURN_IF_ERROR(ModelState::CheckFinite(*data));
    return checkpoints_.Save(*data);
  };
  // The snapshot is a copy: steps go on while it is written, and the first one need not wait for the disk.
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
                                     const std::shared_ptr<SessionRunHook>& evaluations) {
  const EstimatorSpec& spec = prepared.program->spec();
  HookList hooks;
  auto append = [&hooks](const HookList& more) { hooks.insert(hooks.end(), more.begin(), more.end()); };
  const bool chief = is_chief();
  std::shared_ptr<CheckpointSaverHook> save;
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
    saver.listeners = options.saving_listeners;
    save = std::make_shared<CheckpointSaverHook>(std::move(saver));
    hooks.push_back(save);
  }
  if (evaluations != nullptr) hooks.push_back(evaluations);
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
    // "accuracy = 0.91, loss = 0.25 (steps 100 to 199)".
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
  if (config_.accumulate_batches > 1) {
    TD_LOG(INFO) << config_.accumulate_batches << " batches of " << batch / config_.accumulate_batches
                 << " examples make one of " << batch << ".";
  }
  TD_LOG(INFO) << "batch " << batch << " x " << Count(prepared.replicas / workers, "replica") << " x "
               << Count(workers, "worker") << " = " << batch * prepared.replicas;
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
  TD_RETURN_IF_ERROR(status_);
  if (is_evaluator_ && !config_.compile_only) {
    return absl::FailedPreconditionError("Train: this process is a task of type evaluator; call TrainAndEvaluate");
  }
  return Together([&] { return TrainTogether(input_fn, options); });
}

absl::Status Estimator::Impl::TrainTogether(const InputFn& input_fn, const TrainOptions& options) {
  TD_RETURN_IF_ERROR(CheckTrainOptions(options));
  if (resident_.training()) return absl::FailedPreconditionError("Train was called by a hook or listener of a Train");
  if (!options.saving_listeners.empty() && !config_.checkpoints_enabled()) {
    return absl::InvalidArgumentError(
        "Train: saving_listeners need checkpoints; set save_checkpoints_steps or save_checkpoints_secs");
  }
  TD_RETURN_IF_ERROR(JoinWorkers());
  if (workers() != nullptr) {
    const auto text = [](const std::optional<int64_t>& n) { return n.has_value() ? absl::StrCat(*n) : "none"; };
    TD_RETURN_IF_ERROR(
        workers()->Agree("the options of Train",
                         absl::StrCat("steps: ", text(options.steps), ", max_steps: ", text(options.max_steps),
                                      ", checkpoints: ", config_.checkpoints_enabled() ? "on" : "off"),
                         "all workers call Train alike"));
  }
  if (is_chief()) TD_RETURN_IF_ERROR(PrepareModelDir(config_.file_env(), config_.model_dir));
  TD_RETURN_IF_ERROR(CheckOutputs());
  SignalGuard guard(config_.handle_signals);
  if (config_.compile_only) {
    TD_ASSIGN_OR_RETURN(Prepared prepared, Prepare(Mode::kTrain, input_fn));
    LogModel(prepared);
    return Finalize(prepared, TrainHooks(options, prepared, -1));
  }

  // A training without checkpoints leaves nothing that another one could damage.
  std::shared_ptr<FileLock> lock;
  if (config_.checkpoints_enabled() && is_chief()) {
    TD_ASSIGN_OR_RETURN(lock, LockModelDir(config_.file_env(), config_.model_dir, /*owner=*/&config_));
    DeleteLeftovers(config_.file_env(), config_.model_dir);
  }
  TD_RETURN_IF_ERROR(resident_.BringBack());
  TD_ASSIGN_OR_RETURN(const std::optional<CheckpointData> start, StartingPoint());
  int64_t start_step = resident_.has_training() ? resident_.global_step() : 0;
  if (start.has_value()) start_step = start->global_step;
  if (options.max_steps.has_value() && start_step >= *options.max_steps) {
    TD_LOG(INFO) << "Skipping training since max_steps has already saved.";
    last_train_ = TrainResult{.global_step = start_step, .reason = StopReason::kMaxRounds};
    return absl::OkStatus();
  }

  TD_ASSIGN_OR_RETURN(Prepared prepared, Prepare(Mode::kTrain, input_fn));
  LogModel(prepared);
  std::shared_ptr<SessionRunHook> evaluations;
  if (evaluation_hook_) {
    TD_ASSIGN_OR_RETURN(evaluations, evaluation_hook_(*prepared.dealer));
  }
  const HookList hooks = TrainHooks(options, prepared, start.has_value() ? start->global_step : -1, evaluations);
  TD_RETURN_IF_ERROR(Finalize(prepared, hooks));
  TD_RETURN_IF_ERROR(StartFrom(start, prepared));
  TD_RETURN_IF_ERROR(BindVariables(prepared, /*averages=*/false));

  TD_ASSIGN_OR_RETURN(ResidentState::TrainingScope training, resident_.StartTraining());
  LoopOptions loop;
  loop.mode = Mode::kTrain;
  loop.scalars["seed"] = seed_;
  loop.step_scalars = &step_scalars_;
  loop.fetches = {"loss"};
  loop.tracer = tracer_.get();
  loop.stall_watch = stall_watch_.get();
  loop.fetchable = prepared.program->runner().output_names();
  loop.on_step = [this](const RunValues& values) { return values.applied ? resident_.StepTaken() : absl::OkStatus(); };
  if (config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
  MeetBetweenSteps(prepared, &loop);
  if (prepared.own_inputs != nullptr) {
    prepared.workers->set_on_save([inputs = prepared.own_inputs.get()] { return inputs->SaveState().status(); });
  }
  // After an error the loop's hooks have no end; what was begun is still written.
  auto finish = absl::MakeCleanup([&] {
    if (prepared.workers != nullptr) prepared.workers->set_on_save(nullptr);
    if (absl::Status saved = FinishSave(/*wait=*/true); !saved.ok()) TD_LOG(ERROR) << saved.message();
  });
  TD_ASSIGN_OR_RETURN(const LoopResult result,
                      RunLoop(prepared.program->runner(), prepared.source(), hooks, loop, resident_.step_counter()));
  if (prepared.workers != nullptr) TD_RETURN_IF_ERROR(prepared.workers->MeetAtEnd());
  TD_ASSIGN_OR_RETURN(iterator_state_, prepared.SavePosition());
  const bool reached = options.max_steps.has_value() && resident_.global_step() >= *options.max_steps;
  last_train_ = TrainResult{.global_step = resident_.global_step(),
                            .steps = result.steps,
                            .loss = result.last_loss,
                            .reason = reached ? StopReason::kMaxRounds : result.reason,
                            .stop_why = reached ? "" : result.stop_why};
  TD_RETURN_IF_ERROR(SignalErrorOf(
      result, absl::StrCat(" after global step ", resident_.global_step(),
                           config_.checkpoints_enabled() ? ", whose checkpoint is saved; start again to go on"
                                                         : "; checkpoints are off, so nothing was saved")));
  if (result.steps == 0 && !result.stop_why.empty()) {
    TD_LOG(INFO) << "Training with estimator made no steps: " << result.stop_why << ".";
  } else if (result.steps == 0) {
    TD_LOG(WARNING) << "Training with estimator made no steps. Perhaps input is empty or misspecified (a batch that is "
                       "larger than the data is dropped by drop_remainder).";
  } else {
    TD_LOG(INFO) << InputReport(result, *prepared.dealer);
    TD_LOG(INFO) << absl::StrFormat("Loss for final step: %.8g.", result.last_loss);
  }
  training.End();
  return TakeTraceStatus(result.trace);
}

}  // namespace tandem
