// Estimator in a cluster with parameter servers.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "cluster/address.h"
#include "estimator/estimator_impl.h"
#include "estimator/parameter_server/parameter_server.h"
#include "estimator/parameter_server/placement.h"
#include "estimator/parameter_server/server_state.h"
#include "estimator/signals.h"
#include "estimator/workers/worker_positions.h"
#include "passes/base/build_id.h"

namespace tandem {
namespace {

using ServedWish = ServedVariables::Wish;

// Returns, for example, "worker 1 at host, pid 123".
std::string WhoIs(const Cluster& cluster, Env* env) {
  return absl::StrCat(Name(cluster.task.type), " ", cluster.task.index, " at ", env->HostName(), ", pid ",
                      env->ProcessId());
}

const std::vector<std::string>& ServersOf(const Cluster& cluster) {
  return cluster.addresses.at(TaskType::kParameterServer);
}

// Returns the number of tasks on this machine that compute, this one included.
int TasksHere(const Cluster& cluster) {
  const auto own = cluster.addresses.find(cluster.task.type);
  if (own == cluster.addresses.end() || cluster.task.index >= static_cast<int64_t>(own->second.size())) return 1;
  const std::string here = SplitAddress(own->second[cluster.task.index]).host;
  int tasks = 0;
  for (TaskType type : {TaskType::kChief, TaskType::kWorker, TaskType::kParameterServer}) {
    const auto addresses = cluster.addresses.find(type);
    if (addresses == cluster.addresses.end()) continue;
    tasks += static_cast<int>(std::count_if(addresses->second.begin(), addresses->second.end(),
                                            [&](const std::string& a) { return SplitAddress(a).host == here; }));
  }
  return std::max(tasks, 1);
}

}  // namespace

absl::Status Estimator::Impl::ResolveServers(const Cluster& cluster) {
  const auto refuse = [&](absl::string_view what) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat("cluster: ", cluster.Text(), ": ", what)), kExitUsage);
  };
  for (const DistributionStrategy& strategy : {config_.train_strategy(), config_.eval_strategy()}) {
    if (!strategy.multi_worker || strategy.updates == ClusterUpdates::kTogether) {
      return refuse(absl::StrCat("it has tasks of type ps, and ", strategy.name,
                                 " has no use for them; use ParameterServerStrategy, or leave them out"));
    }
    if (strategy.gpu()) return refuse("parameter servers are for workers with CPUs so far");
  }
  is_server_ = cluster.task.type == TaskType::kParameterServer;
  if (cluster.world_size < 1) return refuse("there is no worker");
  cluster_ = cluster;
  tasks_here_ = TasksHere(cluster);
  if (!is_chief() || is_server_) {
    SetLogTag(absl::StrCat("[", Name(cluster.task.type), " ", cluster.task.index, "] "));
    SetMinLogSeverity(LogSeverity::kWarning);
  }
  ServedVariables::Options options;
  options.addresses = ServersOf(cluster);
  options.rank = cluster.rank;
  options.who = WhoIs(cluster, config_.file_env());
  options.deadline_seconds = config_.peer_deadline_secs;
  options.start_deadline_seconds = 10 * config_.peer_deadline_secs;
  options.tls = config_.tls;
  if (config_.handle_signals) options.interrupted = [] { return SignalGuard::pending() != 0; };
  served_ = std::make_unique<ServedVariables>(std::move(options));
  return absl::OkStatus();
}

Estimator::Impl::~Impl() {
  if (served_ != nullptr && is_chief() && !is_server_) served_->End(served_status_);
}

StepPart Estimator::Impl::PartOfStep(Mode mode) const {
  if (served_ == nullptr || mode != Mode::kTrain) return {};
  return {.servers = static_cast<int>(ServersOf(*cluster_).size()),
          .server = is_server_ ? static_cast<int>(cluster_->task.index) : -1};
}

absl::Status Estimator::Impl::BeginServed(const Prepared& prepared) {
  ++served_training_;
  const StallWatch::Scope meeting(*stall_watch_,
                                  absl::StrCat("Meeting the parameter servers (", cluster_->Text(), ")"));
  const ModeProgram& program = *prepared.program;
  OwnBatches& batches = *prepared.own_batches;
  batches.set_all_at_end([this](bool keep) { return served_->AllAtEnd(keep); });
  served_->set_position([&batches]() -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(const InputPosition position, batches.Position());
    return position.ToText();
  });
  served_->set_facts(ServedFacts(prepared));
  const absl::Status begun = served_->Begin(program.executable(), resident_.model().store(), resident_.global_step(),
                                            served_training_, std::move(first_positions_));
  first_positions_.clear();
  if (absl::IsCancelled(begun)) {
    return SignalError(SignalGuard::pending(), ", while it waited for the parameter servers and the chief's values");
  }
  TD_RETURN_IF_ERROR(begun);
  TD_RETURN_IF_ERROR(TakeServedStep());
  // In later trainings of a process each worker knows its position. A chief that has just given the servers its values
  // restored its position with them.
  if (served_training_ > 1 || (is_chief() && !served_->had_values())) return absl::OkStatus();
  const auto mine = served_->positions().find(cluster_->rank);
  if (mine == served_->positions().end() || mine->second.position.empty()) return absl::OkStatus();
  const absl::Status restored = batches.Restore(InputPosition::FromText(mine->second.position));
  if (!absl::IsFailedPrecondition(restored)) return restored;
  TD_LOG(WARNING) << "The input starts from its beginning: " << restored.message();
  return absl::OkStatus();
}

absl::Status Estimator::Impl::RestoreServed(const Prepared& prepared, const std::string& text) {
  OwnBatches& batches = *prepared.own_batches;
  const bool shared = config_.auto_shard == AutoShard::kBatch;
  const int64_t workers = cluster_->world_size;
  TD_ASSIGN_OR_RETURN(const std::optional<WorkerPositions> saved, WorkerPositions::FromText(text));
  first_positions_.clear();
  if (!saved.has_value()) {
    // The text is one worker's position, from its own earlier run.
    TD_RETURN_IF_ERROR(batches.Restore(InputPosition::FromText(text)));
    for (int64_t rank = 0; shared && rank < workers; ++rank) first_positions_[rank] = {.position = text};
    return absl::OkStatus();
  }
  if (saved->shared != shared) {
    return absl::FailedPreconditionError(
        shared ? "the checkpoint has the positions of workers with an input of their own each (auto_shard: off or file)"
               : "the checkpoint has positions in an input that all workers shared, and each has its own now "
                 "(auto_shard)");
  }
  const auto count = static_cast<int64_t>(saved->states.size());
  if (!shared && count != workers) {
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint has the positions of ", count,
                                                      " workers' own inputs, and there are ", workers, " workers"));
  }
  const bool earliest = shared && (count != workers || saved->round != RoundOf(prepared));
  if (earliest) TD_LOG(INFO) << saved->EarliestText();
  ServedVariables::Positions positions;
  for (int64_t rank = 0; rank < workers; ++rank) {
    const size_t from = earliest ? saved->Earliest() : rank;
    const InputPosition position{.state = saved->states[from], .examples = shared ? saved->examples[from] : 0};
    if (rank == 0) TD_RETURN_IF_ERROR(batches.Restore(position));
    if (!position.state.empty()) positions[rank] = {.position = position.ToText()};
  }
  first_positions_ = std::move(positions);
  return absl::OkStatus();
}

int64_t Estimator::Impl::RoundOf(const Prepared& prepared) const {
  return prepared.dealer->batches_per_round() * (prepared.dealer->batch_size() / config_.accumulate_batches);
}

absl::StatusOr<std::string> Estimator::Impl::ServedPositions(const Prepared& prepared) const {
  TD_ASSIGN_OR_RETURN(const InputPosition mine, prepared.own_batches->Position());
  if (cluster_->world_size == 1) return mine.state;
  WorkerPositions all{.shared = config_.auto_shard == AutoShard::kBatch, .round = RoundOf(prepared)};
  for (int64_t rank = 0; rank < cluster_->world_size; ++rank) {
    const auto found = served_->positions().find(rank);
    const bool known = rank > 0 && found != served_->positions().end();
    const InputPosition position = known      ? InputPosition::FromText(found->second.position)
                                   : rank > 0 ? InputPosition()
                                              : mine;
    all.states.push_back(position.state);
    all.examples.push_back(position.examples);
    if (!known || found->second.behind == 0) continue;
    TD_LOG(WARNING) << "The worker of rank " << rank << " has not said where its input is for " << found->second.behind
                    << " updates, which the checkpoint holds: a training that goes on from it takes their examples "
                       "again.";
  }
  return all.ToText();
}

std::optional<StopReason> Estimator::Impl::WishOfChief() const {
  switch (served_->wish()) {
    case ServedWish::kGoOn:
      break;
    case ServedWish::kStop:
      return StopReason::kStopRequested;
    case ServedWish::kSignal:
      return StopReason::kPeerSignal;
  }
  return std::nullopt;
}

absl::StatusOr<StopReason> Estimator::Impl::EndServed(StopReason reason) {
  if (!is_chief()) {
    TD_RETURN_IF_ERROR(served_->Leave(served_training_));
    return reason;
  }
  {
    const StallWatch::Scope waiting(*stall_watch_, "Waiting for the steps of the other workers");
    // From here on, workers that are ahead do not wait for the chief.
    if (reason == StopReason::kEndOfInput) TD_RETURN_IF_ERROR(served_->Leave(served_training_));
    if (reason == StopReason::kStopRequested) TD_RETURN_IF_ERROR(served_->Stop(ServedWish::kStop));
    if (reason != StopReason::kSignal) {
      const absl::Status waited = served_->WaitForOthers(served_training_);
      if (!absl::IsCancelled(waited)) TD_RETURN_IF_ERROR(waited);
      if (!waited.ok()) reason = StopReason::kSignal;
    }
    if (reason == StopReason::kSignal) {
      TD_RETURN_IF_ERROR(served_->Stop(ServedWish::kSignal));
      TD_RETURN_IF_ERROR(served_->WaitForOthers(served_training_, /*here_only=*/true));
    }
  }
  TD_RETURN_IF_ERROR(ReadServed());
  return reason;
}

std::map<std::string, std::string> Estimator::Impl::ServedFacts(const Prepared& prepared) const {
  std::map<std::string, std::string> facts = {{"build", BuildId()},
                                              {"seed", absl::StrCat(config_.seed.value_or(0))},
                                              {"batch size", absl::StrCat(prepared.dealer->batch_size())},
                                              {"auto_shard", std::string(Name(config_.auto_shard))},
                                              {"set of numbers of model_fn", NumbersOf(*prepared.program)}};
  if (config_.auto_shard == AutoShard::kBatch) facts["input"] = prepared.dealer->data_fingerprint();
  return facts;
}

absl::Status Estimator::Impl::ReadServed() {
  TD_RETURN_IF_ERROR(served_->ReadAll());
  return TakeServedStep();
}

absl::Status Estimator::Impl::TakeServedStep() {
  const bool changed = *resident_.step_counter() != served_->step();
  *resident_.step_counter() = served_->step();
  return changed ? resident_.StepTaken() : absl::OkStatus();
}

std::optional<HostTensor> Estimator::Impl::ServedValue(const std::string& name) const {
  if (!served() || is_chief()) return std::nullopt;
  absl::StatusOr<HostTensor> value = resident_.model().store()->Read(name);
  return value.ok() ? std::make_optional(*std::move(value)) : std::nullopt;
}

absl::Status Estimator::Impl::Serve(const InputFn& input_fn) {
  TD_RETURN_IF_ERROR(status_);
  if (server_has_ended_) return absl::OkStatus();
  SignalGuard guard(config_.handle_signals);
  TD_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(Mode::kTrain, input_fn));
  ModeProgram& program = *prepared.program;
  TD_ASSIGN_OR_RETURN(CompileOptions options, OptionsFor(Mode::kTrain, {"cpu:0"}, /*batch=*/1));
  options.lanes = options.microbatch_rows = 0;  // a server has no rows
  TD_RETURN_IF_ERROR(program.Compile({}, options));
  if (config_.compile_only) return absl::OkStatus();
  ServerOptions server;
  server.index = static_cast<int>(cluster_->task.index);
  server.who = WhoIs(*cluster_, config_.file_env());
  server.workers = cluster_->world_size;
  server.max_staleness = config_.max_staleness;
  for (const auto& [name, value] : program.scalar_defaults()) server.scalar_defaults[name] = value;
  server.facts = ServedFacts(prepared);
  const std::vector<std::string>& addresses = ServersOf(*cluster_);
  std::map<std::string, const VariableSpec*> variables;
  for (const VariableSpec& v : program.variables()) variables[v.name] = &v;
  for (const PlacedPart& part : PlacementOf(program.executable())) {
    const auto found = variables.find(part.variable);
    if (part.server != server.index || found == variables.end()) continue;
    const VariableSpec& v = *found->second;
    PlacedPart owner = part;
    owner.variable = v.slot_of;
    server.variables.push_back({.name = part.name(),
                                .dtype = v.dtype,
                                .shape = part.ShapeOf(v.shape),
                                .trainable = v.trainable,
                                .slot_of = v.slot_of.empty() ? "" : owner.name()});
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ServerState> state,
                      ServerState::Create(std::move(server), program.shared_executable(), pool_));
  const uint64_t bytes = state->MemoryBytes();
  const std::string& address = addresses[cluster_->task.index];
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<ParameterServer> listening,
                      ParameterServer::Start(std::move(state), address, config_.peer_deadline_secs, config_.tls));
  TD_LOG(INFO) << "Serving " << bytes << " bytes of variables at " << address << ".";
  using Seconds = std::chrono::duration<double>;
  const Seconds patience(10 * config_.peer_deadline_secs);
  std::optional<ServerState::Clock::time_point> signalled;
  while (!listening->state().WaitForEnd(std::chrono::milliseconds(100))) {
    const auto alone = listening->state().alone();
    if (config_.handle_signals && SignalGuard::pending() != 0) {
      // All tasks got the signal: the chief still has to read the values that it saves.
      const ServerState::Clock::time_point now = ServerState::Clock::now();
      if (!signalled.has_value()) signalled = now;
      if (alone == ServerState::Clock::duration::zero() && now - *signalled < Seconds(config_.peer_deadline_secs)) {
        continue;
      }
      return SignalError(SignalGuard::pending(), ", a parameter server; checkpoints are the chief's");
    }
    if (alone < patience) continue;
    return WithExitCode(
        absl::UnavailableError(absl::StrFormat("no worker has been connected to the parameter server at %s for %g s",
                                               address, patience.count())),
        kExitTemporary);
  }
  server_has_ended_ = true;
  const std::string failure = listening->state().failure();
  if (failure.empty()) return absl::OkStatus();
  // Tasks that ask meanwhile get the failure as their answer.
  for (int i = 0; i < 20 && listening->state().alone() == ServerState::Clock::duration::zero(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return absl::AbortedError(absl::StrCat("the chief has ended the training: ", failure));
}

}  // namespace tandem
