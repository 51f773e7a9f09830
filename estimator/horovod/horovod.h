// What programs that were written for Horovod call, on Tandem's workers (docs/guide/cluster.md).
//
//   namespace hvd = tandem::horovod;
//   TD_RETURN_IF_ERROR(hvd::Init());
//   Estimator estimator(ModelFn, hvd::Config({.model_dir = dir}));  // saves on rank 0 only
//   estimator.Train(MyPartOfTheData, {.steps = 20000 / hvd::Size(),
//                                     .hooks = {std::make_shared<hvd::BroadcastGlobalVariablesHook>(0)}});
// and in ModelFn
//   Optimizer optimizer = hvd::DistributedOptimizer(optimizers::SGD({.learning_rate = 0.01 * hvd::Size()}));
#ifndef TANDEM_ESTIMATOR_HOROVOD_HOROVOD_H_
#define TANDEM_ESTIMATOR_HOROVOD_HOROVOD_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/source_location.h"
#include "cluster/cluster.h"
#include "estimator/run_config.h"
#include "estimator/session_run_hook.h"
#include "frontends/optimizer.h"
#include "graph/tensor.h"

namespace tandem::horovod {

// Finds out which processes take part: `cluster`, else what the environment describes, else this one alone.
// InvalidArgument (exit code 2) for a description that cannot be. To be called once, before threads are started.
absl::Status Init(const std::optional<Cluster>& cluster = std::nullopt);
bool IsInitialized();
void Shutdown();

// -1 before Init. Rank 0 saves and logs. Of those on this host LocalRank is the number of this one; -1 where neither
// the launcher nor the addresses say.
int Rank();
int Size();
int LocalRank();
int LocalSize();

// Each process has an input of its own: input_fn gives the part of the data that is this rank's, and inputs may end at
// different times, as with Join. Everything else is as `config` says. Call it when `config` is complete:
// DistributedOptimizer goes by the accumulate_batches given here. Calls Init where nobody has, as do the functions
// below.
RunConfig Config(RunConfig config = {});

enum class ReduceOp { kAverage, kSum };

struct DistributedOptimizerOptions {
  // Of the gradients of all ranks. An average is over the examples of all of them, where Horovod's gives each rank the
  // same weight, whatever it had.
  ReduceOp op = ReduceOp::kAverage;
  // Of RunConfig.accumulate_batches, which are Horovod's backward_passes_per_step: whether their gradients are averaged
  // too, or, as in Horovod, added.
  bool average_aggregated_gradients = false;
};

// Gradients are combined over all ranks with any optimizer, since a step is one step of all of them; this one scales
// them as `options` say, before they are clipped.
Optimizer DistributedOptimizer(const Optimizer& optimizer, const DistributedOptimizerOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());

// What each rank's replica computes from its own rows, such as a statistic of its batch, combined; a value that all
// have in common stays as it is, or counts once for each rank (kSum). Rows of a batch cannot be combined: reduce them
// first.
Tensor Allreduce(const Tensor& x, ReduceOp op = ReduceOp::kAverage, SourceLocation loc = SourceLocation::Current());

// What each rank's replica computes from its own rows, read by all. Broadcast: the value of `root_rank`. Allgather: the
// values of all in the order of the ranks, those of shape [d0, ...] as [n d0, ...], scalars as [n]. A rank with several
// devices has a value on each: n counts the devices of all ranks, and the root's value is that of its first device. A
// value that all have in common is broadcast as it is, and gathered n times.
//
// A replica without rows, in a short last batch or behind the end of its rank's input, has no value, and Allreduce
// leaves it out. Here there are zeros in its place, and everywhere when it is the root's. Allgather of the step scalar
// "replica_example_count" tells how many rows each has. A NaN or infinity stays in its place.
//
// The gradient is that of the loss of all ranks: a replica has the part of it that is at its place, of a broadcast the
// root's first one has it all, and the others have none.
//
// Floating-point, of one shape on all ranks. Errors with the caller's line: rows of a batch, integers (Cast them), a
// `root_rank` that is no rank, and several ranks where each process makes steps of its own, as in Predict.
Tensor Broadcast(const Tensor& x, int root_rank, SourceLocation loc = SourceLocation::Current());
Tensor Allgather(const Tensor& x, SourceLocation loc = SourceLocation::Current());

// All ranks begin with the values of rank 0 in any case: what it restores or initialises is sent to the others. The
// hook is an error for another root.
class BroadcastGlobalVariablesHook : public SessionRunHook {
 public:
  explicit BroadcastGlobalVariablesHook(int root_rank) : root_rank_(root_rank) {}
  std::string name() const override { return "BroadcastGlobalVariablesHook"; }
  absl::Status Begin(HookContext& context) override;

 private:
  const int root_rank_;
};

}  // namespace tandem::horovod

#endif  // TANDEM_ESTIMATOR_HOROVOD_HOROVOD_H_
