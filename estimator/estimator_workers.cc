// Estimator with several workers of a cluster.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/fingerprint.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/estimator_impl.h"
#include "estimator/signals.h"
#include "estimator/workers/agree_on_parts.h"
#include "estimator/workers/share_checkpoint.h"
#include "estimator/workers/worker_positions.h"
#include "runtime/format/index.h"
#include "runtime/session/list_devices.h"

namespace tandem {
namespace {

using WorkersWish = WorkerGroup::Wish;

WorkersWish WishOf(const std::optional<StopReason>& stop) {
  if (!stop.has_value()) return WorkersWish::kGoOn;
  return *stop == StopReason::kSignal ? WorkersWish::kSignal : WorkersWish::kStop;
}

}  // namespace

absl::Status Estimator::Impl::ResolveWorkers() {
  TD_ASSIGN_OR_RETURN(std::optional<Cluster> cluster, config_.ResolvedCluster());
  if (!cluster.has_value()) {
    if (config_.train_strategy().updates == ClusterUpdates::kServers) {
      TD_LOG(INFO) << config_.train_strategy().name << ": there is no cluster, so this process trains alone.";
    }
    return absl::OkStatus();
  }
  const auto refuse = [&](absl::string_view what) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat("cluster: ", cluster->Text(), ": ", what)), kExitUsage);
  };
  is_evaluator_ = cluster->task.type == TaskType::kEvaluator;
  has_evaluator_ = is_evaluator_ || cluster->addresses.contains(TaskType::kEvaluator);
  if (is_evaluator_) {
    SetLogTag(absl::StrCat("[", Name(cluster->task.type), " ", cluster->task.index, "] "));
    TD_LOG(INFO) << "cluster: " << cluster->Text();
  }
  if (is_evaluator_) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(config_.tls, config_.ResolvedTls());
  if (cluster->addresses.contains(TaskType::kParameterServer)) return ResolveServers(*cluster);
  if (config_.train_strategy().updates == ClusterUpdates::kServers) {
    return refuse(absl::StrCat(config_.train_strategy().name, " needs tasks of type ps, and the cluster has none"));
  }
  if (cluster->world_size == 1) return absl::OkStatus();
  for (const DistributionStrategy& strategy : {config_.train_strategy(), config_.eval_strategy()}) {
    if (!strategy.multi_worker) {
      return refuse(absl::StrCat(strategy.name, " is for one process; use MultiWorkerMirroredStrategy, or take the ",
                                 "description of the cluster out of the environment"));
    }
    if (strategy.gpu() && cluster->full_world_size > cluster->world_size) {
      return refuse(absl::StrCat("there are ", cluster->world_size, " of ", cluster->full_world_size,
                                 " workers, and a GPU does not take the replicas of missing ones over; start all of "
                                 "them (tandem-launch without --min_workers), or use CPUs"));
    }
    if (config_.communication == Communication::kNccl && !strategy.gpu()) {
      return refuse(absl::StrCat("communication nccl is for GPUs, and the devices are ",
                                 absl::StrJoin(strategy.devices, ","), "; use auto"));
    }
  }
  if (config_.train_strategy().num_replicas() != config_.eval_strategy().num_replicas()) {
    return refuse("train_distribute and eval_distribute must have as many devices");
  }
  cluster_ = *std::move(cluster);
  if (!cluster_->is_chief()) {
    SetLogTag(absl::StrCat("[", Name(cluster_->task.type), " ", cluster_->task.index, "] "));
  }
  return absl::OkStatus();
}

absl::Status Estimator::Impl::JoinWorkers() {
  TD_RETURN_IF_ERROR(status_);
  if (!cluster_.has_value() || served() || joined_ != nullptr || config_.compile_only) return absl::OkStatus();
  const StallWatch::Scope meeting(*stall_watch_, absl::StrCat("Meeting the other workers (", cluster_->Text(), ")"));
  TD_ASSIGN_OR_RETURN(joined_, JoinedWorkers::Join(*cluster_, config_));
  // The chief's log tells what all workers do.
  if (!is_chief()) SetMinLogSeverity(LogSeverity::kWarning);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Estimator::Impl::OwnGpus(const std::vector<std::string>& named) const {
  const size_t here = joined_->workers_here(), each = named.size();
  for (size_t i = 0; i < each; ++i) {
    if (named[i] != absl::StrCat("gpu:", i)) return named;
  }
  TD_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> gpus, ListDevices("gpu"));
  if (gpus.size() < here * each) return named;  // each worker sees only its own GPUs, dealt out by a launcher
  std::vector<std::string> own;
  for (size_t i = 0; i < each; ++i) own.push_back(absl::StrCat("gpu:", joined_->workers_here_before() * each + i));
  return own;
}

absl::Status Estimator::Impl::Together(const std::function<absl::Status()>& work) {
  const absl::Status status = CatchResourceErrors("what all workers do", work);
  if (served() && !absl::IsCancelled(status)) served_status_ = status;
  // A signal ends all workers in order.
  return joined_ != nullptr && !absl::IsCancelled(status) ? joined_->Ended(status) : status;
}

absl::StatusOr<ModeProgram::Fetches> Estimator::Impl::FetchesOfAll(WorkerGroup& workers,
                                                                   const ModeProgram::Fetches& mine) {
  std::vector<std::string> names;
  for (const auto& [name, hook] : mine) names.push_back(absl::StrCat(name, "\t", hook));
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                      workers.Gather(absl::StrJoin(names, "\n"), "what hooks fetch"));
  ModeProgram::Fetches fetches;
  for (const std::string& text : all) {
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> fetch = absl::StrSplit(line, absl::MaxSplits('\t', 1));
      fetches.insert(fetch);
    }
  }
  return fetches;
}

std::string Estimator::Impl::NumbersOf(const ModeProgram& program) {
  std::string numbers;
  for (const auto& [name, value] : program.scalar_defaults()) {
    absl::StrAppendFormat(&numbers, "%s%s: %.17g", numbers.empty() ? "" : ", ", name, value);
  }
  return numbers;
}

absl::Status Estimator::Impl::AgreeOnWork(const Prepared& prepared) {
  WorkerGroup& workers = *prepared.workers;
  const ModeProgram& program = *prepared.program;
  const format::Index& index = program.executable().index();
  TD_RETURN_IF_ERROR(workers.Agree("target", index.target_name, "name one as RunConfig.target"));
  TD_RETURN_IF_ERROR(AgreeOnParts(
      workers, absl::StrCat("the program of mode ", ModeName(program.mode())), index.key,
      [&] { return program.parts(); }, "model_fn, input_fn and RunConfig must be the same on all of them"));
  TD_RETURN_IF_ERROR(workers.Agree(absl::StrCat("the numbers of mode ", ModeName(program.mode())), NumbersOf(program),
                                   "model_fn and its params must be the same on all of them"));
  if (program.mode() == Mode::kTrain) {
    TD_RETURN_IF_ERROR(workers.Agree("RunConfig.check_steps_every", absl::StrCat(config_.check_steps_every),
                                     "they make such steps twice together: set the same on all of them"));
  }
  if (prepared.own_inputs != nullptr) return absl::OkStatus();
  TD_RETURN_IF_ERROR(
      workers.Agree("data", prepared.dealer->data_fingerprint(),
                    "give all workers the same input, each takes its part of it; or set RunConfig.auto_shard to "
                    "kOff, where each has an input of its own"));
  TD_ASSIGN_OR_RETURN(const std::string order, prepared.dealer->SaveState());
  return workers.Agree("the order of the input", absl::StrCat(absl::Hex(Fingerprint64(order))),
                       "give its stages the same options, seeds and shards on all of them, or set RunConfig.auto_shard "
                       "to kOff, where each has an input of its own");
}

absl::StatusOr<std::string> Estimator::Impl::Prepared::SavePosition() const {
  if (own_batches == nullptr) return own_inputs != nullptr ? own_inputs->SaveState() : dealer->SaveState();
  TD_ASSIGN_OR_RETURN(const InputPosition position, own_batches->Position());
  return position.ToText();
}

void Estimator::Impl::Prepared::KeepEnd() const {
  if (own_batches != nullptr) return own_batches->KeepEnd();
  if (own_inputs != nullptr) return own_inputs->KeepEnd();
  dealer->KeepEnd();
}

absl::Status Estimator::Impl::Prepared::RestorePosition(absl::string_view position) const {
  if (own_inputs != nullptr) return own_inputs->RestoreState(position);
  TD_ASSIGN_OR_RETURN(const std::optional<WorkerPositions> saved, WorkerPositions::FromText(position));
  if (!saved.has_value()) return dealer->RestoreState(position);
  if (!saved->shared) {
    return absl::FailedPreconditionError(
        "the checkpoint has the positions of workers with an input of their own each (auto_shard: off or file)");
  }
  TD_LOG(INFO) << saved->EarliestText();
  const std::string& state = saved->states[saved->Earliest()];
  return state.empty() ? absl::OkStatus() : dealer->RestoreState(state);
}

absl::StatusOr<CheckpointData> Estimator::Impl::ValuesInMemory(const ModeProgram& program) const {
  CheckpointData data;
  data.global_step = resident_.global_step();
  data.seed = seed_;
  const std::vector<VariableSpec> variables = resident_.model().WithAverages(program.variables());
  TD_ASSIGN_OR_RETURN(VariableSnapshot values, resident_.model().Snapshot(variables));
  TD_RETURN_IF_ERROR(ModelState::FillFrom(values, variables, &data));
  return data;
}

absl::Status Estimator::Impl::TakeValuesOfChief(const Prepared& prepared) {
  std::optional<CheckpointData> data;
  if (is_chief()) {
    TD_ASSIGN_OR_RETURN(data, ValuesInMemory(*prepared.program));
  }
  TD_ASSIGN_OR_RETURN(data, ShareCheckpoint(*prepared.workers, std::move(data)));
  if (is_chief()) return absl::OkStatus();
  seed_ = data->seed;
  TD_RETURN_IF_ERROR(resident_.WarmStart(data->variables));
  return resident_.WarmStart(data->slots);
}

void Estimator::Impl::MeetBetweenSteps(const Prepared& prepared, LoopOptions* loop) {
  if (prepared.workers == nullptr) return;
  loop->shared_steps = true;
  loop->agree =
      [this, workers = prepared.workers](std::optional<StopReason> mine) -> absl::StatusOr<std::optional<StopReason>> {
    TD_ASSIGN_OR_RETURN(const WorkerGroup::Meeting met,
                        workers->Meet(WishOf(mine), [this] { return step_scalars_.Fingerprint(); }));
    switch (met.wish) {
      case WorkersWish::kGoOn:
        return std::optional<StopReason>();
      case WorkersWish::kStop:
        return std::optional<StopReason>(StopReason::kStopRequested);
      case WorkersWish::kSignal:
        break;
    }
    if (mine == StopReason::kSignal) return std::optional<StopReason>(StopReason::kSignal);
    TD_LOG(WARNING) << "The worker of rank " << met.from << " was asked to stop by a signal: all workers stop.";
    return std::optional<StopReason>(StopReason::kPeerSignal);
  };
}

absl::Status Estimator::Impl::SignalErrorOf(const LoopResult& result, absl::string_view detail) const {
  if (result.reason == StopReason::kSignal) return SignalError(SignalGuard::pending(), detail);
  return result.reason == StopReason::kPeerSignal ? PeerSignalError(detail) : absl::OkStatus();
}

absl::StatusOr<bool> Estimator::Impl::LoadForInference(const Prepared& prepared, const std::string& checkpoint_path,
                                                       const char* what) {
  WorkerGroup* workers = prepared.workers;
  // During a training all workers have the same values.
  if (workers == nullptr || resident_.training()) return LoadAlone(*prepared.program, checkpoint_path, what);
  std::optional<CheckpointData> data;
  std::string text;
  if (workers->is_chief()) {
    TD_ASSIGN_OR_RETURN(const bool own, LoadAlone(*prepared.program, checkpoint_path, what));
    TD_ASSIGN_OR_RETURN(data, ValuesInMemory(*prepared.program));
    text = absl::StrCat(own ? "own" : "other", "\n", resident_.checkpoint());
  }
  TD_ASSIGN_OR_RETURN(text, workers->FromChief(text, "the checkpoint to evaluate"));
  TD_ASSIGN_OR_RETURN(data, ShareCheckpoint(*workers, std::move(data)));
  const std::pair<std::string, std::string> told = absl::StrSplit(text, absl::MaxSplits('\n', 1));
  if (!workers->is_chief() && data.has_value()) {
    if (resident_.has_training() && !config_.checkpoints_enabled()) TD_RETURN_IF_ERROR(resident_.SetAside());
    TD_RETURN_IF_ERROR(
        resident_.LoadCheckpoint(*data, told.second, ModelState::WithAverages(*data, prepared.program->variables())));
  }
  return told.first == "own";
}

}  // namespace tandem
