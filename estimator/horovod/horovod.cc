#include "estimator/horovod/horovod.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "cluster/address.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "graph/replicas.h"

namespace tandem::horovod {
namespace {

struct State {
  bool initialized = false;
  std::optional<Cluster> cluster;         // set if there are several processes
  std::optional<int> accumulate_batches;  // RunConfig.accumulate_batches in the last call of Config
};
State& Process() {
  static State state;
  return state;
}

// Sets the local rank, if no launcher has set it, to the number of lower ranks whose addresses have the same host.
void FindLocalRank(Cluster* cluster) {
  std::vector<std::string> addresses;
  for (const TaskType type : {TaskType::kChief, TaskType::kWorker}) {
    const auto of_type = cluster->addresses.find(type);
    if (of_type == cluster->addresses.end()) continue;
    addresses.insert(addresses.end(), of_type->second.begin(), of_type->second.end());
  }
  if (cluster->rank < 0) return;  // this task does not train
  if (cluster->local_rank >= 0 || static_cast<int64_t>(addresses.size()) != cluster->world_size) return;
  cluster->local_rank = cluster->local_world_size = 0;
  const std::string here = SplitAddress(addresses[cluster->rank]).host;
  for (int64_t rank = 0; rank < cluster->world_size; ++rank) {
    if (SplitAddress(addresses[rank]).host != here) continue;
    ++cluster->local_world_size;
    if (rank < cluster->rank) ++cluster->local_rank;
  }
}

// Calls Init if needed. For an impossible description of a cluster, this process is treated as alone here, and its
// Estimator returns the error.
State& Initialized() {
  if (!IsInitialized() && !Init().ok()) Process().initialized = true;
  return Process();
}

// Returns -1 before Init; otherwise what `get` returns for the cluster, or `alone` if this process trains by itself.
template <typename Get>
int Ask(int alone, Get get) {
  const State& state = Process();
  if (!state.initialized) return -1;
  return state.cluster.has_value() ? static_cast<int>(get(*state.cluster)) : alone;
}

// Returns whether the values of `x` on all replicas can be combined. Returns false after an error, or if `x` is
// poisoned (it carries an error).
bool CanTravel(const char* op, const Tensor& x, SourceLocation loc) {
  Initialized();
  if (!x.ok()) return false;
  std::string problem;
  if (x.rank() > 0 && x.shape()[0] == kBatch) {
    problem = absl::StrCat("cannot combine rows of the batch, ", ShapeString(x.shape()),
                           "; give it what each replica computes of its rows, such as BatchMoments(x).mean");
  } else if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) {
    problem = absl::StrCat("needs floating-point numbers, not ", Name(x.dtype()), "; Cast first");
  }
  if (!problem.empty()) x.graph()->FailAt(op, problem, loc);
  return problem.empty();
}

// Returns whether all ranks make the graph's steps together; false after an error.
bool IsOfAllRanks(const char* op, GraphBuilder* graph, SourceLocation loc) {
  const int64_t processes = ReplicasOf(*graph).processes;
  if (processes == Size()) return true;
  graph->FailAt(op,
                absl::StrCat("Size() is ", Size(), ", and a step of this program is made by ", processes,
                             processes == 1 ? " process" : " processes",
                             ": for predictions, and with parameter servers, each makes steps of its own; elsewhere "
                             "RunConfig must have the cluster that Init found, as horovod::Config gives it"),
                loc);
  return false;
}

// Returns a poisoned tensor (one that carries an error) in place of an `x` that CanTravel refused. The graph has an
// error afterwards.
Tensor Untravelled(const Tensor& x, SourceLocation loc) {
  return x.ok() ? x.graph()->Poisoned() : CrossReplicaSum(x, loc);
}

// Returns, on all replicas, the value that `x` has on replica `number`, element by element. Uses a select, because
// infinities and NaNs of the other replicas times 0 would not be 0.
Tensor FromReplica(const Tensor& number, const Tensor& x, SourceLocation loc) {
  GraphBuilder* graph = x.graph();
  const Tensor index = graph->StepScalar("replica_index", DType::kInt32, std::nullopt, loc);
  const Tensor nothing = graph->Constant(HostTensor::Zeros(x.dtype(), {}), loc);
  return CrossReplicaSum(Select(Equal(number, index, loc), x, nothing, loc), loc);
}

}  // namespace

absl::Status Init(const std::optional<Cluster>& cluster) {
  TD_ASSIGN_OR_RETURN(std::optional<Cluster> found, RunConfig{.cluster = cluster}.ResolvedCluster());
  if (found.has_value()) FindLocalRank(&*found);
  Process() = {.initialized = true, .cluster = std::move(found)};
  return absl::OkStatus();
}

bool IsInitialized() { return Process().initialized; }
void Shutdown() { Process() = State(); }

int Rank() {
  return Ask(0, [](const Cluster& c) { return c.rank; });
}
int Size() {
  return Ask(1, [](const Cluster& c) { return c.world_size; });
}
int LocalRank() {
  return Ask(0, [](const Cluster& c) { return c.local_rank; });
}
int LocalSize() {
  return Ask(1, [](const Cluster& c) { return c.local_world_size > 0 ? c.local_world_size : -1; });
}

RunConfig Config(RunConfig config) {
  State& state = Initialized();
  if (!config.cluster.has_value()) config.cluster = state.cluster;
  config.auto_shard = AutoShard::kOff;
  if (state.accumulate_batches.value_or(config.accumulate_batches) != config.accumulate_batches) {
    TD_LOG(WARNING) << "horovod::Config was given accumulate_batches = " << *state.accumulate_batches << " before and "
                    << config.accumulate_batches
                    << " now. Models that are built from here on go by the latter, those of the first Config as well.";
  }
  state.accumulate_batches = config.accumulate_batches;
  return config;
}

Optimizer DistributedOptimizer(const Optimizer& optimizer, const DistributedOptimizerOptions& options,
                               SourceLocation loc) {
  const State& state = Initialized();
  double factor = options.op == ReduceOp::kSum ? Size() : 1;
  if (!options.average_aggregated_gradients) factor *= state.accumulate_batches.value_or(1);
  return factor == 1 ? optimizer : optimizer.WithGradientFactor(factor, loc);
}

Tensor Allreduce(const Tensor& x, ReduceOp op, SourceLocation loc) {
  Initialized();
  const bool batched = x.ok() && x.rank() > 0 && x.shape()[0] == kBatch;
  if (!x.ok() || batched || x.graph()->VariesByReplica(x)) {
    return op == ReduceOp::kSum ? CrossReplicaSum(x, loc) : CrossReplicaMean(x, loc);
  }
  return op == ReduceOp::kSum && Size() > 1 ? Mul(x, Size(), loc) : x;
}

Tensor Broadcast(const Tensor& x, int root_rank, SourceLocation loc) {
  constexpr char kOp[] = "broadcast";
  if (!CanTravel(kOp, x, loc)) return Untravelled(x, loc);
  GraphBuilder* graph = x.graph();
  if (root_rank < 0 || root_rank >= Size()) {
    return graph->FailAt(
        kOp,
        absl::StrCat("root_rank is ", root_rank, "; ranks are numbers from 0 to Size() - 1, which is ", Size() - 1),
        loc);
  }
  if (!graph->VariesByReplica(x)) return x;
  if (!IsOfAllRanks(kOp, graph, loc)) return graph->Poisoned();
  const ReplicaCount replicas = ReplicasOf(*graph);
  const NameScope scope(graph, graph->UniqueName(kOp));
  const auto root = static_cast<int32_t>(root_rank * (replicas.all / replicas.processes));
  return FromReplica(graph->Constant(HostTensor::Scalar(root), loc), x, loc);
}

Tensor Allgather(const Tensor& x, SourceLocation loc) {
  constexpr char kOp[] = "allgather";
  if (!CanTravel(kOp, x, loc)) return Untravelled(x, loc);
  GraphBuilder* graph = x.graph();
  if (!IsOfAllRanks(kOp, graph, loc)) return graph->Poisoned();
  const int64_t n = ReplicasOf(*graph).all;
  const NameScope scope(graph, graph->UniqueName(kOp));
  Shape places = x.shape(), numbers(places.size() + 1, 1), gathered = places.empty() ? Shape{1} : places;
  places.insert(places.begin(), n);
  numbers[0] = n;
  gathered[0] *= n;
  Tensor all = tandem::Broadcast(x, places, loc);
  if (graph->VariesByReplica(x)) {
    all = FromReplica(Reshape(Iota(graph, {n}, 0, DType::kInt32, loc), numbers, loc), all, loc);
  }
  return Reshape(all, gathered, loc);
}

absl::Status BroadcastGlobalVariablesHook::Begin(HookContext&) {
  if (root_rank_ == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "root_rank is ", root_rank_, "; rank 0 restores and initialises, and sends the values to the others: use 0"));
}

}  // namespace tandem::horovod
