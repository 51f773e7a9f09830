#include "estimator/estimator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/file_shard.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/job/make_cooperation.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/signals.h"
#include "estimator/model/variable_check.h"

namespace tandem {

// In a process that replays a step (--replay_step), returns the configuration of the replayed run. Otherwise adds the
// devices of missing workers to those of this one, and creates a temporary model_dir if none is given. Errors are
// reported later: MakeCooperation returns those of the workers, and model_dir stays empty if it could not be created.
Estimator::Impl::Setting Estimator::Impl::SettingOf(RunConfig config) {
  Setting setting;
  if (const auto request = ReplayOfProcess(); !request.ok() || request->has_value()) {
    setting.replayed = std::make_shared<ReplayedRun>();
    setting.replay_status = request.status();
    if (request.ok()) {
      absl::StatusOr<std::shared_ptr<ReplayedRun>> opened = ReplayedRun::Open(**request, &config);
      setting.replay_status = opened.status();
      if (opened.ok()) setting.replayed = *std::move(opened);
    }
  } else {
    if (absl::StatusOr<RunConfig> with_devices = config.WithDevicesOfMissingWorkers(); with_devices.ok()) {
      config = *std::move(with_devices);
    }
    setting.temporary_model_dir = config.model_dir.empty();
    if (config.model_dir.empty()) config.model_dir = MakeTemporaryModelDir().value_or("");
  }
  setting.config = std::move(config);
  return setting;
}

Estimator::Impl::Impl(ModelFn model_fn, Setting setting, Params params, InputSpec input_spec)
    : config_(std::move(setting.config)),
      params_(std::move(params)),
      status_(config_.Validate()),
      replayed_(std::move(setting.replayed)),
      stall_watch_(std::make_unique<StallWatch>(StallWatch::Options{.seconds = config_.stall_warning_secs})),
      checkpoints_(config_.file_env(), config_.model_dir, std::max(config_.keep_checkpoint_max, 0)),
      resident_(std::make_shared<VariableStore>(config_.train_strategy().num_replicas(),
                                                config_.train_strategy().one_copy())),
      programs_(std::move(model_fn), std::move(input_spec.labels), config_, params_, setting.temporary_model_dir),
      event_files_(config_, params_),
      best_(config_) {
  state_.seed = static_cast<uint64_t>(config_.seed.value_or(0));
  if (status_.ok()) status_ = setting.replay_status;
  checkpoints_.set_keep_every_n_hours(config_.keep_checkpoint_every_n_hours);
  if (config_.keep_best.has_value()) {
    // Reads the evaluations on disk each time, so that a run that goes on, and a run whose evaluations another process
    // makes, keep the same checkpoints.
    checkpoints_.set_protected(
        [env = config_.file_env(), dir = EvalDir(config_.model_dir, config_.keep_best->evaluation),
         best = *config_.keep_best](const std::vector<int64_t>& steps) -> absl::StatusOr<std::set<int64_t>> {
          TD_ASSIGN_OR_RETURN(const EvalHistory history, ReadEvalHistory(env, dir));
          return BestSteps(history, best, steps);
        });
  }
  if (status_.ok() && config_.model_dir.empty()) status_ = MakeTemporaryModelDir().status();
  if (status_.ok()) status_ = config_.CheckDevices();
  if (status_.ok()) status_ = TargetOf(config_, config_.train_strategy()).status();
  if (status_.ok()) status_ = params_.status();
  if (status_.ok() && !programs_.has_model_fn()) status_ = absl::InvalidArgumentError("Estimator: model_fn is empty");
  if (config_.train_distribute.has_value() || config_.eval_distribute.has_value()) {
    TD_LOG(INFO) << "Initializing RunConfig with distribution strategies.";
    TD_LOG(INFO) << "Not using Distribute Coordinator.";
  }
  if (const DistributionStrategy strategy = config_.train_strategy(); strategy.central_storage && strategy.gpu()) {
    TD_LOG(INFO) << strategy.name << ": each GPU keeps a copy of the variables.";
  }
  TD_LOG(INFO) << "Using config: " << config_.ToString();
  if (!replays()) Cooperate();  // a replay runs in one process and writes no trace
  warnings_ = std::make_unique<UsageWarnings>(config_, params_, *cooperation_);
}

void Estimator::Impl::Cooperate() {
  if (!status_.ok()) return;
  absl::StatusOr<std::unique_ptr<Cooperation>> cooperation =
      MakeCooperation(&config_, {.config = config_, .stall_watch = *stall_watch_, .resident = resident_});
  status_ = cooperation.status();
  if (!status_.ok()) return;
  cooperation_ = *std::move(cooperation);
  status_ = tracing_.Configure(config_, cooperation_->rank());
}

const DistributionStrategy Estimator::Impl::Strategy(Mode mode) const {
  return mode == Mode::kTrain ? config_.train_strategy() : config_.eval_strategy();
}

absl::StatusOr<Estimator::Impl::Prepared> Estimator::Impl::PrepareInput(Mode mode, const InputFn& input_fn,
                                                                        Params::Placement* placement) {
  if (!input_fn) return absl::InvalidArgumentError(absl::StrCat("Estimator, mode ", ModeName(mode), ": no input_fn"));
  Prepared prepared;
  prepared.cooperation = &cooperation_->In(mode);
  const Cooperation::Share shared = prepared.cooperation->ShareOf(mode);
  const int devices = Strategy(mode).num_replicas();
  prepared.workers = shared.step_workers;
  prepared.replicas = devices * shared.step_workers;
  *placement = {.num_replicas = prepared.replicas, .num_workers = shared.workers, .worker_index = shared.worker};
  InputContext context;
  context.num_replicas_in_sync = prepared.replicas;
  ReplicaShare share = ReplicaShare::OneProcess(devices);
  if (mode == Mode::kTrain) share.batches = config_.accumulate_batches;
  if (shared.input == AutoShard::kOff) {
    context.num_input_pipelines = shared.workers;
    context.input_pipeline_id = shared.worker;
  }
  if (shared.input == AutoShard::kBatch) {
    share.replicas = devices * shared.workers;
    share.first = shared.worker * devices;
  }
  if (mode == Mode::kTrain && prepared.replicas > 1) {
    TD_LOG(INFO) << "The `input_fn` accepts an `input_context` which will be given by DistributionStrategy";
  }
  const std::string where = absl::StrCat("input_fn, mode ", ModeName(mode), ": ");
  auto asked = std::make_optional<StallWatch::Scope>(*stall_watch_, absl::StrCat("input_fn of mode ", ModeName(mode)));
  std::optional<FileShardScope> files;
  if (shared.input == AutoShard::kFile) files.emplace(shared.workers, shared.worker);
  const absl::StatusOr<Dataset> made = CallUserCode([&] { return input_fn(context); });
  asked.reset();
  TD_RETURN_IF_ERROR(Annotate(made.status(), where));
  const std::string not_dealt = files.has_value() ? files->SourceNotDealt(*made) : "";
  if (!not_dealt.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, "RunConfig.auto_shard is file, and a source of the dataset is not of files that were dealt out: ",
        not_dealt, ", of which every worker would have all elements; make each source (such as TFRecord or ListFiles) ",
        "inside of input_fn, or use AutoShard::kBatch or kOff"));
  }
  files.reset();
  TD_RETURN_IF_ERROR(Annotate(params_.status(), where));
  const Dataset& dataset = *made;
  absl::StatusOr<std::unique_ptr<BatchDealer>> dealer = BatchDealer::Create(dataset, share);
  TD_RETURN_IF_ERROR(Annotate(dealer.status(), where));
  prepared.dealer = *std::move(dealer);
  prepared.input = prepared.cooperation->MakeInput(shared, prepared.dealer.get());
  return prepared;
}

absl::StatusOr<Estimator::Impl::Prepared> Estimator::Impl::Prepare(Mode mode, const InputFn& input_fn) {
  Params::Placement placement;
  TD_ASSIGN_OR_RETURN(Prepared prepared, PrepareInput(mode, input_fn, &placement));
  const Dataset& dataset = prepared.dealer->dataset();
  const std::string key = absl::StrCat(ModeName(mode), " ", dataset.batch_size(), " ", SpecString(dataset.spec()));
  bool is_new = false;
  TD_ASSIGN_OR_RETURN(prepared.program,
                      programs_.FindOrBuild(key,
                                            {.mode = mode,
                                             .components = dataset.spec(),
                                             .placement = placement,
                                             .replicas = {.all = prepared.replicas, .processes = prepared.workers}},
                                            &is_new));
  if (is_new) warnings_->Model(*prepared.program);
  return prepared;
}

absl::Status Estimator::Impl::CheckParams(const ModeProgram& program) const {
  TD_RETURN_IF_ERROR(params_.status());
  return program.params_status();
}

absl::StatusOr<CompileOptions> Estimator::Impl::OptionsFor(Mode mode, std::vector<std::string> devices, int64_t batch) {
  const DistributionStrategy strategy = Strategy(mode);
  return programs_.OptionsFor({.strategy = strategy,
                               .devices = std::move(devices),
                               .batch = batch,
                               .part = cooperation_->In(mode).PartOfStep(),
                               .processes_here = cooperation_->processes_here()});
}

absl::Status Estimator::Impl::Finalize(const Prepared& prepared, const HookList& hooks) {
  const Mode mode = prepared.program->mode();
  TD_RETURN_IF_ERROR(CheckVariables(*prepared.program, *resident_.model().store(), programs_.All()));
  const EstimatorSpec& spec = prepared.program->spec();
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.training_chief_hooks", spec.training_chief_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.training_hooks", spec.training_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.evaluation_hooks", spec.evaluation_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.prediction_hooks", spec.prediction_hooks));
  HookContext context(mode, config_.model_dir, prepared.replicas, prepared.dealer->batch_size());
  if (mode == Mode::kTrain) context.set_evaluation_metrics(job_.evaluation_metrics);
  TD_RETURN_IF_ERROR(BeginHooks(hooks, context));
  TD_RETURN_IF_ERROR(CheckParams(*prepared.program));
  std::vector<std::string> devices = Strategy(mode).devices;
  // Each of several workers runs the program that one process with the devices of all of them would run.
  if (prepared.replicas != Strategy(mode).num_replicas()) {
    devices.clear();
    const absl::string_view kind = Strategy(mode).gpu() ? "gpu:" : "cpu:";
    for (int i = 0; i < prepared.replicas; ++i) devices.push_back(absl::StrCat(kind, i));
  }
  TD_ASSIGN_OR_RETURN(const CompileOptions options,
                      OptionsFor(mode, std::move(devices), prepared.dealer->batch_size()));
  if (config_.compile_only) {
    TD_RETURN_IF_ERROR(prepared.program->Compile(context.fetched_by(), options));
    TD_LOG(INFO) << "Compiled mode " << ModeName(mode) << " for " << options.target << ": "
                 << prepared.program->executable().name();
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const ModeProgram::Fetches fetches,
                      prepared.cooperation->FetchesOfAll(*prepared.program, context.fetched_by()));
  TD_RETURN_IF_ERROR(prepared.program->Compile(fetches, options));
  TD_RETURN_IF_ERROR(prepared.cooperation->AgreeOnWork(*prepared.program, *prepared.input, *prepared.dealer));
  prepared.dealer->set_label_ranges(prepared.program->label_ranges());
  return absl::OkStatus();
}

absl::Status Estimator::Impl::BindVariables(const Prepared& prepared, bool averages) {
  std::map<std::string, std::string> names;
  if (averages) names = AveragesFor(*prepared.program);
  if (!names.empty()) TD_LOG(INFO) << "Using the moving averages of " << names.size() << " variables.";
  Session::Options session;
  session.pool = programs_.pool();
  session.deadline_seconds = config_.deadline_secs;
  session.gpu_plans = config_.gpu_plans;
  session.deterministic = config_.deterministic;
  TD_RETURN_IF_ERROR(prepared.cooperation->ConfigureSession(Strategy(prepared.program->mode()), &session));
  return prepared.program->Bind(names, resident_.model().store(), std::move(session));
}

absl::Status Estimator::Impl::JoinWorkers() {
  TD_RETURN_IF_ERROR(status_);
  return config_.compile_only ? absl::OkStatus() : cooperation_->Join();
}

absl::Status Estimator::Impl::Together(const std::function<absl::Status()>& work) {
  return cooperation_->Ended(CatchResourceErrors("what all workers do", work));
}

absl::Status Estimator::Impl::SignalErrorOf(const LoopResult& result, absl::string_view detail) const {
  if (result.reason == StopReason::kSignal) return SignalError(SignalGuard::pending(), detail);
  return result.reason == StopReason::kPeerSignal ? PeerSignalError(detail) : absl::OkStatus();
}

absl::Status Estimator::Impl::CheckOutputs() const {
  return resident_.training() ? absl::OkStatus() : tracing_.CheckFile();
}

absl::Status Estimator::Impl::TakeTraceStatus(const absl::Status& of_loop) {
  return tracing_.TakeStatus(of_loop, resident_.training());
}

absl::Status Estimator::Impl::Serve(const InputFn& input_fn) {
  TD_RETURN_IF_ERROR(status_);
  if (cooperation_->has_served()) return absl::OkStatus();
  SignalGuard guard(config_.handle_signals);
  TD_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(Mode::kTrain, input_fn));
  TD_ASSIGN_OR_RETURN(CompileOptions options, OptionsFor(Mode::kTrain, {"cpu:0"}, /*batch=*/1));
  // A parameter server computes no rows of batches, so its program is not divided into lanes (parts of the batch).
  options.lanes = options.microbatch_rows = 0;
  TD_RETURN_IF_ERROR(prepared.program->Compile({}, options));
  if (config_.compile_only) return absl::OkStatus();
  return cooperation_->Serve(*prepared.program, *prepared.dealer, programs_.pool());
}

absl::Status Estimator::Impl::CheckModelDirExists(const std::string& checkpoint_path) const {
  if (config_.compile_only || resident_.has_training() || !checkpoint_path.empty() || !assigned_.empty()) {
    return absl::OkStatus();
  }
  if (!absl::IsNotFound(config_.file_env()->Stat(config_.model_dir).status())) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("model_dir \"", config_.model_dir, "\" does not exist; check its name, or train first"));
}

absl::StatusOr<std::optional<std::string>> Estimator::Impl::LatestCheckpoint(absl::string_view in_memory) {
  const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading the checkpoints of ", config_.model_dir));
  return checkpoints_.LatestCheckpoint(in_memory);
}

namespace {

absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenLatest(Estimator& estimator) {
  Env* env = estimator.config().file_env();
  return ReadConsistently(
      env, kManifestName,
      [&]() -> absl::StatusOr<std::string> {
        TD_ASSIGN_OR_RETURN(std::optional<std::string> latest, estimator.LatestCheckpoint());
        if (latest.has_value()) return *std::move(latest);
        return absl::NotFoundError(absl::StrCat("there is no checkpoint in ", estimator.model_dir(), "; train first"));
      },
      [env](const std::string& path) { return CheckpointReader::Open(env, path); });
}

}  // namespace

Estimator::Estimator(ModelFn model_fn, RunConfig config, Params params, InputSpec input_spec)
    : impl_(std::make_shared<Impl>(std::move(model_fn), Impl::SettingOf(std::move(config)), std::move(params),
                                   std::move(input_spec))) {}

Estimator::~Estimator() = default;

absl::Status Estimator::Train(const InputFn& input_fn, const TrainOptions& options) {
  return CatchResourceErrors("training", [&] { return impl_->Train(input_fn, options); });
}

absl::StatusOr<EvalResult> Estimator::Evaluate(const InputFn& input_fn, const EvaluateOptions& options) {
  if (impl_->replays()) return EvalResult();
  return CatchResourceErrors("evaluation", [&] { return impl_->Evaluate(input_fn, options); });
}

absl::Status Estimator::Predict(const InputFn& input_fn, const PredictFn& on_prediction,
                                const PredictOptions& options) {
  if (impl_->replays()) return absl::OkStatus();
  return CatchResourceErrors("prediction", [&] { return impl_->Predict(input_fn, on_prediction, options); });
}

absl::StatusOr<std::optional<std::string>> Estimator::LatestCheckpoint() {
  TD_RETURN_IF_ERROR(impl_->status());
  return CatchResourceErrors("looking for a checkpoint", [&] { return impl_->LatestCheckpoint(); });
}

absl::StatusOr<std::vector<std::string>> Estimator::GetVariableNames() {
  return CatchResourceErrors("reading a checkpoint", [&]() -> absl::StatusOr<std::vector<std::string>> {
    TD_ASSIGN_OR_RETURN(auto reader, OpenLatest(*this));
    std::vector<std::string> names;
    for (const SavedTensor& tensor : reader->variables()) names.push_back(tensor.name);
    for (const SavedTensor& tensor : reader->slots()) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    return names;
  });
}

absl::StatusOr<HostTensor> Estimator::GetVariableValue(const std::string& name) {
  return CatchResourceErrors("reading a checkpoint", [&]() -> absl::StatusOr<HostTensor> {
    if (std::optional<HostTensor> value = impl_->ServedValue(name)) return *std::move(value);
    TD_ASSIGN_OR_RETURN(auto reader, OpenLatest(*this));
    return reader->Read(name);
  });
}

const RunConfig& Estimator::config() const { return impl_->config(); }

std::string Estimator::eval_dir(const std::string& name) const { return EvalDir(model_dir(), name); }

const std::optional<TrainResult>& Estimator::last_train_result() const { return impl_->last_train(); }

int64_t Estimator::global_step() const { return impl_->global_step(); }

std::optional<BestRecord> Estimator::best(const std::string& name) const {
  const BestRecords best = impl_->best().OnRecord();
  const auto& records = best.records();
  auto it = records.find(name);
  if (it == records.end()) return std::nullopt;
  BestRecord record = it->second;
  const std::string path = JoinPath(model_dir(), CheckpointName(record.global_step));
  if (config().file_env()->Exists(JoinPath(path, kManifestName))) record.checkpoint = path;
  return record;
}

bool Estimator::is_chief() const { return impl_->is_chief() && !is_evaluator(); }

bool Estimator::is_evaluator() const { return impl_->cooperation().is_evaluator(); }

int64_t Estimator::evaluations() const { return impl_->evaluations(); }

int64_t Estimator::programs_built() const { return impl_->programs_built(); }

}  // namespace tandem
