#include "estimator/estimator.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/output_file.h"
#include "base/processors.h"
#include "base/resource_errors.h"
#include "base/standard_descriptors.h"
#include "base/status_macros.h"
#include "base/user_cache.h"
#include "base/user_code.h"
#include "data/file_shard.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/estimator_impl.h"
#include "estimator/eval_log.h"
#include "estimator/model_dir.h"
#include "estimator/run_loop.h"
#include "estimator/trace/trace_steps.h"
#include "estimator/variable_check.h"
#include "estimator/warm_start/warm_start.h"
#include "estimator/warnings.h"
#include "runtime/session/list_devices.h"

namespace tandem {
namespace {

// Completes a user's configuration: takes over a replayed run, adds the devices of missing workers (ResolveWorkers
// reports an error of that), and makes a temporary model_dir; it stays empty if none can be made.
RunConfig Completed(RunConfig config, std::shared_ptr<ReplayedRun>* replayed, absl::Status* replay_status,
                    bool* temporary_model_dir) {
  if (const auto request = ReplayOfProcess(); !request.ok() || request->has_value()) {
    *replayed = std::make_shared<ReplayedRun>();
    *replay_status = request.status();
    if (!request.ok()) return config;
    absl::StatusOr<std::shared_ptr<ReplayedRun>> opened = ReplayedRun::Open(**request, &config);
    *replay_status = opened.status();
    if (opened.ok()) *replayed = *std::move(opened);
    return config;
  }
  if (absl::StatusOr<RunConfig> with_devices = config.WithDevicesOfMissingWorkers(); with_devices.ok()) {
    config = *std::move(with_devices);
  }
  *temporary_model_dir = config.model_dir.empty();
  if (config.model_dir.empty()) config.model_dir = MakeTemporaryModelDir().value_or("");
  return config;
}

// Returns the target that the programs of `strategy` are compiled for.
absl::StatusOr<std::string> TargetOf(const RunConfig& config, const DistributionStrategy& strategy) {
  if (!config.target.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string device_class, DeviceClassOfTarget(config.target));
    const bool gpu = device_class == "gpu";
    if (gpu == strategy.gpu()) return config.target;
    return absl::InvalidArgumentError(absl::StrCat("target \"", config.target, "\" is not for ", strategy.devices[0],
                                                   "; name ", gpu ? "GPUs" : "CPUs", " as devices or another target"));
  }
  if (!strategy.gpu()) return "cpu:native";
  if (config.compile_only) {
    return absl::InvalidArgumentError("compile_only for GPUs needs a target, for example \"cuda:sm_90\"");
  }
  TD_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> gpus, ListDevices("gpu"));
  int sm = gpus[0].compute_capability;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (std::count(strategy.devices.begin(), strategy.devices.end(), absl::StrCat("gpu:", i)) > 0) {
      sm = std::min(sm, gpus[i].compute_capability);
    }
  }
  return GpuTargetName(sm);
}

// True if the checkpoint at `path` lies in `model_dir`, however the two are written.
bool IsOwnCheckpoint(const std::string& path, const std::string& model_dir) {
  return std::filesystem::path(path).parent_path().lexically_normal() ==
         (std::filesystem::path(model_dir) / "model.ckpt").lexically_normal().parent_path();
}

// Returns the tracer that the configuration or the environment asks for; null if none does. Workers after the first one
// write files of their own. InvalidArgument if the steps in the environment cannot be parsed; those of the
// configuration are already checked.
absl::StatusOr<std::unique_ptr<Tracer>> MakeTracer(const RunConfig& config, int64_t rank) {
  std::string file = config.trace, steps = config.trace_steps;
  if (const char* name = std::getenv("TANDEM_TRACE"); file.empty() && name != nullptr) {
    file = name;
    if (const char* range = std::getenv("TANDEM_TRACE_STEPS"); range != nullptr) steps = range;
  }
  if (file.empty()) return nullptr;
  if (rank > 0) absl::StrAppend(&file, ".", rank);
  TD_ASSIGN_OR_RETURN(const auto range, ParseTraceSteps(steps));
  return std::make_unique<Tracer>(
      Tracer::Options{.file = file, .first_step = range.first, .last_step = range.second, .env = config.file_env()});
}

}  // namespace

Estimator::Impl::Impl(ModelFn model_fn, RunConfig config, Params params, InputSpec input_spec)
    : model_fn_(std::move(model_fn)),
      config_(Completed(std::move(config), &replayed_, &replay_status_, &temporary_model_dir_)),
      params_(std::move(params)),
      input_spec_(std::move(input_spec)),
      status_(config_.Validate()),
      stall_watch_(std::make_unique<StallWatch>(StallWatch::Options{.seconds = config_.stall_warning_secs})),
      checkpoints_(config_.file_env(), config_.model_dir, std::max(config_.keep_checkpoint_max, 0)),
      resident_(std::make_shared<VariableStore>(config_.train_strategy().num_replicas(),
                                                config_.train_strategy().one_copy())),
      seed_(static_cast<uint64_t>(config_.seed.value_or(0))),
      best_(config_.keep_best) {
  ExitOnUncaughtResourceErrors();
  OpenStandardDescriptors();
  if (status_.ok()) status_ = replay_status_;
  checkpoints_.set_keep_every_n_hours(config_.keep_checkpoint_every_n_hours);
  if (config_.keep_best.has_value()) {
    // Reads the records on disk, so that a run that goes on, or one beside an evaluator, keeps the same checkpoints.
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
  if (status_.ok() && !model_fn_) status_ = absl::InvalidArgumentError("Estimator: model_fn is empty");
  if (config_.train_distribute.has_value() || config_.eval_distribute.has_value()) {
    TD_LOG(INFO) << "Initializing RunConfig with distribution strategies.";
    TD_LOG(INFO) << "Not using Distribute Coordinator.";
  }
  if (const DistributionStrategy strategy = config_.train_strategy(); strategy.central_storage && strategy.gpu()) {
    TD_LOG(INFO) << strategy.name << ": each GPU keeps a copy of the variables.";
  }
  TD_LOG(INFO) << "Using config: " << config_.ToString();
  if (replays()) return;  // a replay runs in one process, and without a trace
  if (status_.ok()) status_ = ResolveWorkers();
  if (status_.ok()) {
    absl::StatusOr<std::unique_ptr<Tracer>> tracer = MakeTracer(config_, cluster_.has_value() ? cluster_->rank : 0);
    status_ = tracer.status();
    if (tracer.ok()) tracer_ = *std::move(tracer);
  }
}

const DistributionStrategy Estimator::Impl::Strategy(Mode mode) const {
  return mode == Mode::kTrain ? config_.train_strategy() : config_.eval_strategy();
}

absl::StatusOr<Estimator::Impl::Prepared> Estimator::Impl::PrepareInput(Mode mode, const InputFn& input_fn,
                                                                        Params::Placement* placement) {
  if (!input_fn) return absl::InvalidArgumentError(absl::StrCat("Estimator, mode ", ModeName(mode), ": no input_fn"));
  Prepared prepared;
  // With parameter servers only training is shared.
  const bool in_cluster = cluster_.has_value() && (served() ? mode == Mode::kTrain : mode != Mode::kPredict);
  AutoShard sharing = in_cluster ? config_.auto_shard : AutoShard::kBatch;
  if (sharing == AutoShard::kFile && mode != Mode::kTrain) sharing = AutoShard::kBatch;
  const int num_workers = in_cluster ? static_cast<int>(cluster_->world_size) : 1;
  const int worker = in_cluster && !is_server_ ? static_cast<int>(cluster_->rank) : 0;
  const int devices = Strategy(mode).num_replicas();
  prepared.replicas = served() ? devices : devices * num_workers;
  *placement = {.num_replicas = prepared.replicas, .num_workers = num_workers, .worker_index = worker};
  if (in_cluster) prepared.workers = workers();  // null if programs are only compiled
  InputContext context;
  context.num_replicas_in_sync = prepared.replicas;
  ReplicaShare share = ReplicaShare::OneProcess(devices);
  if (mode == Mode::kTrain) share.batches = config_.accumulate_batches;
  if (sharing == AutoShard::kOff) {
    context.num_input_pipelines = num_workers;
    context.input_pipeline_id = worker;
  }
  if (sharing == AutoShard::kBatch) {
    share.replicas = devices * num_workers;
    share.first = worker * devices;
  }
  if (mode == Mode::kTrain && prepared.replicas > 1) {
    TD_LOG(INFO) << "The `input_fn` accepts an `input_context` which will be given by DistributionStrategy";
  }
  const std::string where = absl::StrCat("input_fn, mode ", ModeName(mode), ": ");
  auto asked = std::make_optional<StallWatch::Scope>(*stall_watch_, absl::StrCat("input_fn of mode ", ModeName(mode)));
  std::optional<FileShardScope> files;
  if (sharing == AutoShard::kFile) files.emplace(num_workers, worker);
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
  if (in_cluster && served()) prepared.own_batches = std::make_unique<OwnBatches>(prepared.dealer.get());
  if (sharing != AutoShard::kBatch && prepared.workers != nullptr) {
    prepared.own_inputs = std::make_unique<OwnInputs>(prepared.workers, prepared.dealer.get());
  }
  return prepared;
}

absl::StatusOr<Estimator::Impl::Prepared> Estimator::Impl::Prepare(Mode mode, const InputFn& input_fn) {
  Params::Placement placement;
  TD_ASSIGN_OR_RETURN(Prepared prepared, PrepareInput(mode, input_fn, &placement));
  const Dataset& dataset = prepared.dealer->dataset();
  const std::string key = absl::StrCat(ModeName(mode), " ", dataset.batch_size(), " ", SpecString(dataset.spec()));
  std::unique_ptr<ModeProgram>& program = programs_[key];
  if (!program) {
    Params params = params_;
    params.SetPlacement(placement);
    // With parameter servers each worker makes steps of its own.
    const ReplicaCount count{.all = prepared.replicas, .processes = served() ? 1 : placement.num_workers};
    TD_ASSIGN_OR_RETURN(program,
                        ModeProgram::Build(model_fn_, mode, params, dataset.spec(), input_spec_.labels, count));
    ++programs_built_;
    WarnOfModel(*program);
  }
  prepared.program = program.get();
  return prepared;
}

absl::Status Estimator::Impl::CheckParams(const ModeProgram& program) const {
  TD_RETURN_IF_ERROR(params_.status());
  return program.params_status();
}

absl::StatusOr<CompileOptions> Estimator::Impl::OptionsFor(Mode mode, std::vector<std::string> devices, int64_t batch) {
  if (!pool_) {
    const int sharing = joined_ != nullptr ? joined_->workers_here() : tasks_here_;
    TD_ASSIGN_OR_RETURN(
        pool_, ThreadPool::Create(config_.threads > 0 ? config_.threads : std::max(1, UsableProcessors() / sharing)));
  }
  CompileOptions options;
  TD_ASSIGN_OR_RETURN(options.target, TargetOf(config_, Strategy(mode)));
  options.devices = std::move(devices);
  options.batch_per_replica = batch;
  options.part = PartOfStep(mode);
  options.cross_device_ops = Strategy(mode).cross_device_ops;
  options.communication_dtype = config_.communication_dtype;
  options.lanes = config_.lanes;
  options.microbatch_rows = config_.microbatch_rows;
  options.precision = config_.precision;
  options.tf32 = config_.tf32;
  options.memory_limit = config_.memory_limit;
  options.cache_required = config_.compile_only;  // compile_only needs nothing but the cached programs
  options.precision_lists = config_.mixed_precision_lists;
  options.threads = pool_->num_threads();
  if (config_.compile_cache) {
    options.cache_dir = config_.compile_cache_dir;
    // A temporary model_dir is new in every process, so its cache would always be empty.
    if (options.cache_dir.empty() && temporary_model_dir_ && !config_.compile_only) {
      if (!user_cache_.has_value()) user_cache_ = UserProgramCache();
      options.cache_dir = *user_cache_;
    }
    if (options.cache_dir.empty()) options.cache_dir = JoinPath(config_.model_dir, "compiled");
  }
  return options;
}

absl::Status Estimator::Impl::Finalize(const Prepared& prepared, const HookList& hooks) {
  const Mode mode = prepared.program->mode();
  std::vector<const ModeProgram*> programs;
  for (const auto& entry : programs_) programs.push_back(entry.second.get());
  TD_RETURN_IF_ERROR(CheckVariables(*prepared.program, *resident_.model().store(), programs));
  const EstimatorSpec& spec = prepared.program->spec();
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.training_chief_hooks", spec.training_chief_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.training_hooks", spec.training_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.evaluation_hooks", spec.evaluation_hooks));
  TD_RETURN_IF_ERROR(CheckHooks("EstimatorSpec.prediction_hooks", spec.prediction_hooks));
  HookContext context(mode, config_.model_dir, prepared.replicas, prepared.dealer->batch_size());
  if (mode == Mode::kTrain) context.set_evaluation_metrics(evaluation_metrics_);
  TD_RETURN_IF_ERROR(BeginHooks(hooks, context));
  TD_RETURN_IF_ERROR(CheckParams(*prepared.program));
  std::vector<std::string> devices = Strategy(mode).devices;
  // Several workers run the program that one with all the devices would run.
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
  ModeProgram::Fetches fetches = context.fetched_by();
  if (prepared.workers != nullptr) {
    const StallWatch::Scope waiting(*stall_watch_,
                                    absl::StrCat("Waiting until all workers are in mode ", ModeName(mode)));
    TD_ASSIGN_OR_RETURN(fetches, FetchesOfAll(*prepared.workers, fetches));
  }
  TD_RETURN_IF_ERROR(prepared.program->Compile(fetches, options));
  if (prepared.workers != nullptr) TD_RETURN_IF_ERROR(AgreeOnWork(prepared));
  prepared.dealer->set_label_ranges(prepared.program->label_ranges());
  return absl::OkStatus();
}

std::map<std::string, std::string> Estimator::Impl::AveragesFor(const ModeProgram& program) const {
  std::map<std::string, std::string> names;
  for (const VariableSpec& v : resident_.model().AveragesOf(program.variables())) names[v.slot_of] = v.name;
  return names;
}

absl::StatusOr<std::vector<HostTensor>> Estimator::Impl::ReadWeights(const ModeProgram& program,
                                                                     std::vector<std::string> names,
                                                                     bool averages) const {
  if (averages) {
    const std::map<std::string, std::string> averaged = AveragesFor(program);
    for (std::string& name : names) {
      if (auto it = averaged.find(name); it != averaged.end()) name = it->second;
    }
  }
  return resident_.model().store()->ReadAll(names);
}

absl::Status Estimator::Impl::BindVariables(const Prepared& prepared, bool averages) {
  std::map<std::string, std::string> names;
  if (averages) names = AveragesFor(*prepared.program);
  if (!names.empty()) TD_LOG(INFO) << "Using the moving averages of " << names.size() << " variables.";
  Session::Options session;
  session.pool = pool_;
  session.deadline_seconds = config_.deadline_secs;
  session.gpu_plans = config_.gpu_plans;
  session.deterministic = config_.deterministic;
  if (prepared.workers != nullptr) {
    session.group = &prepared.workers->group();
    if (const DistributionStrategy strategy = Strategy(prepared.program->mode()); strategy.gpu()) {
      TD_ASSIGN_OR_RETURN(session.devices, OwnGpus(strategy.devices));
    }
  }
  return prepared.program->Bind(names, resident_.model().store(), std::move(session));
}

absl::Status Estimator::Impl::CheckOutputs() const {
  if (tracer_ == nullptr || resident_.training()) return absl::OkStatus();
  return CheckOutputFile(config_.file_env(), "trace", tracer_->options().file);
}

absl::Status Estimator::Impl::TakeTraceStatus(const absl::Status& of_loop) {
  trace_status_.Update(of_loop);
  return resident_.training() ? absl::OkStatus() : std::exchange(trace_status_, absl::OkStatus());
}

absl::Status Estimator::Impl::InitializeVariables(const ModeProgram& program) {
  TD_RETURN_IF_ERROR(resident_.Initialize(program.variables(), seed_));
  if (!config_.warm_start_from.has_value()) return absl::OkStatus();
  const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading ", config_.warm_start_from->path));
  TD_ASSIGN_OR_RETURN(const TensorMap values,
                      ReadWarmStart(
                          config_.file_env(), *config_.warm_start_from, program.variables(),
                          [this](const std::string& name) { return resident_.model().store()->Read(name); },
                          /*whole_model=*/program.mode() == Mode::kTrain));
  return resident_.WarmStart(values);
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

absl::StatusOr<bool> Estimator::Impl::LoadAlone(const ModeProgram& program, const std::string& checkpoint_path,
                                                const char* what) {
  // After a training that saved, its checkpoint counts, not the values in memory. On a worker that is not the chief the
  // values in memory count: it may not see the model_dir that the chief has saved to.
  const bool saved_here = config_.checkpoints_enabled() && is_chief();
  const bool in_memory = resident_.training() || (resident_.has_training() && !saved_here);
  // Assigned values replace some of those that are loaded, so that the result is no checkpoint's. A training that is
  // running has started with them already.
  const bool assigned = !assigned_.empty() && checkpoint_path.empty() && !resident_.training();
  std::string path = checkpoint_path;
  std::optional<CheckpointData> data;
  if (path.empty() && !in_memory) {
    const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading the checkpoints of ", config_.model_dir));
    TD_ASSIGN_OR_RETURN(data, checkpoints_.RestoreLatest(&path, resident_.checkpoint()));
  }
  if (resident_.training() && !path.empty() && path != resident_.checkpoint()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load ", path, " while training: use an Estimator of its own for other checkpoints"));
  }
  // Another mode may have variables that are not loaded yet. A checkpoint path that was given may have another
  // checkpoint now, which its checksums show.
  bool loaded = path == resident_.checkpoint() && resident_.HasLoaded(program.variables());
  if (loaded && !checkpoint_path.empty() && resident_.assigned()) loaded = false;
  if (loaded && !checkpoint_path.empty() && !resident_.training()) {
    const absl::StatusOr<std::string> manifest = config_.file_env()->ReadFile(JoinPath(path, kManifestName));
    const bool gone = absl::IsNotFound(manifest.status());  // rotation may delete it while its values are in memory
    loaded = gone || (manifest.ok() && *manifest == resident_.content());
  }
  if (!path.empty() && !loaded) {
    if (!data.has_value()) {
      const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading ", path));
      TD_ASSIGN_OR_RETURN(data, checkpoints_.Restore(path));
    }
    TD_LOG(INFO) << "Restoring parameters from " << path;
    if (in_memory) TD_RETURN_IF_ERROR(resident_.SetAside());
    TD_RETURN_IF_ERROR(Annotate(
        resident_.LoadCheckpoint(*data, path, ModelState::WithAverages(*data, program.variables()), data->manifest), "",
        absl::StrCat(" (mode ", ModeName(program.mode()), ", input ", SpecString(program.components()), ")")));
    if (assigned) TD_RETURN_IF_ERROR(ApplyAssigned(program));
    return !assigned && IsOwnCheckpoint(path, config_.model_dir);
  }
  if (path.empty() && !in_memory && assigned) {
    TD_RETURN_IF_ERROR(InitializeAssigned(program));
    return false;
  }
  if (path.empty() && !in_memory) {
    LogWarning(config_.silence, kUntrainedWeights,
               absl::StrCat("Could not find trained model in model_dir: ", config_.model_dir,
                            ", running initialization to ", what, ". The weights are ",
                            config_.warm_start_from.has_value() ? "those of " + config_.warm_start_from->path
                                                                : std::string("untrained"),
                            ". Train first, or name another model_dir or a checkpoint_path."));
    TD_RETURN_IF_ERROR(InitializeVariables(program));
    return false;
  }
  if (path.empty()) TD_RETURN_IF_ERROR(resident_.BringBack());
  // The values are in memory already. A variable that training does not have gets its first value.
  std::vector<std::string> untrained;
  for (const VariableSpec& v : program.variables()) {
    const absl::StatusOr<VariableInfo> info = resident_.model().store()->Info(v.name);
    if (!info.ok() || !info->initialized) untrained.push_back(v.name);
  }
  if (!untrained.empty()) {
    TD_LOG(WARNING) << "Mode " << ModeName(program.mode())
                    << " has variables that training does not have: " << absl::StrJoin(untrained, ", ")
                    << ". They have their initial values: build the same layers in "
                    << "every mode.";
  }
  TD_RETURN_IF_ERROR(resident_.FillMissing(program.variables(), seed_));
  if (assigned && AssignedIsDue()) TD_RETURN_IF_ERROR(ApplyAssigned(program));
  return !assigned && (path.empty() || IsOwnCheckpoint(path, config_.model_dir));
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
    : impl_(std::make_shared<Impl>(std::move(model_fn), std::move(config), std::move(params), std::move(input_spec))) {}

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
  const BestRecords best = impl_->BestOnRecord();
  const auto& records = best.records();
  auto it = records.find(name);
  if (it == records.end()) return std::nullopt;
  BestRecord record = it->second;
  const std::string path = JoinPath(model_dir(), CheckpointName(record.global_step));
  if (config().file_env()->Exists(JoinPath(path, kManifestName))) record.checkpoint = path;
  return record;
}

bool Estimator::is_chief() const { return impl_->is_chief() && !impl_->is_evaluator(); }

bool Estimator::is_evaluator() const { return impl_->is_evaluator(); }

int64_t Estimator::evaluations() const { return impl_->evaluations(); }

int64_t Estimator::programs_built() const { return impl_->programs_built(); }

}  // namespace tandem
