// The functions that programs written for Horovod call, on Tandem's workers (docs/guide/cluster.md).
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
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/cluster/cluster.h"
#include "tandem/estimator/config/run_config.h"
#include "tandem/estimator/loop/session_run_hook.h"
#include "tandem/frontends/optimizer.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace horovod {

// Finds out which processes take part: those of `cluster` or, if it is not set, those that the environment describes,
// or this one alone. InvalidArgument (exit code 2) for an impossible description. Call it once, before starting
// threads.
absl::Status Init(const std::optional<Cluster>& cluster = std::nullopt);
// True after Init and before Shutdown.
bool IsInitialized();
// Forgets what Init has found.
void Shutdown();

// These return -1 before Init. Rank 0 saves and logs. LocalRank is this process's number among those on this host;
// LocalRank and LocalSize are -1 if neither the launcher nor the addresses tell.
int Rank();
int Size();
int LocalRank();
int LocalSize();

// Gives each process an input of its own: input_fn returns the part of the data for this rank, and inputs may end at
// different times, as with Join. Everything else is as in `config`. Call it when `config` is complete:
// DistributedOptimizer uses the accumulate_batches given here. Calls Init if nobody has; so do the functions below.
RunConfig Config(RunConfig config = {});

// How values are combined: their mean or their sum.
enum class ReduceOp { kAverage, kSum };

struct DistributedOptimizerOptions {
  // How the gradients of all ranks are combined. The average is over all their examples; Horovod's average gives each
  // rank the same weight, whatever its number of examples.
  ReduceOp op = ReduceOp::kAverage;
  // Average the gradients of RunConfig.accumulate_batches (Horovod's backward_passes_per_step) too, instead of adding
  // them as Horovod does.
  bool average_aggregated_gradients = false;
};

// Returns an optimizer that scales gradients as `options` say, before they are clipped. Any optimizer combines
// gradients over all ranks, since a step is one step of all of them.
Optimizer DistributedOptimizer(const Optimizer& optimizer, const DistributedOptimizerOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());

// Combines values that each rank's replica computes from its own rows, such as a statistic of its batch. A value that
// is the same on all ranks stays as it is or, with kSum, counts once for each rank. Rows of a batch cannot be combined:
// reduce them first.
Tensor Allreduce(const Tensor& x, ReduceOp op = ReduceOp::kAverage, SourceLocation loc = SourceLocation::Current());

// Give all ranks the values that each rank's replica computes from its own rows. Broadcast: the value of `root_rank`.
// Allgather: the values of all in the order of the ranks, shape [d0, ...] as [n d0, ...], scalars as [n]. A rank with
// several devices has a value on each: n is the number of devices of all ranks, and the root's value is that of its
// first device. A value that is the same on all ranks is broadcast as it is, and gathered n times.
//
// A replica without rows, in a short last batch or after the end of its rank's input, has no value. Allreduce leaves it
// out; here it counts as zeros, and if it is the root, all get zeros. Allgather of the step scalar
// "replica_example_count" tells how many rows each has. A NaN or infinity stays in its place.
//
// The gradient is that of the loss of all ranks: each replica gets the part at its place. For a broadcast the root's
// first replica gets all of it, and the others nothing.
//
// Values must be floating-point, with one shape on all ranks. Errors, with the caller's line: rows of a batch, integers
// (Cast them), a `root_rank` that is not a rank, and several ranks if each process makes its own steps, as in Predict.
Tensor Broadcast(const Tensor& x, int root_rank, SourceLocation loc = SourceLocation::Current());
Tensor Allgather(const Tensor& x, SourceLocation loc = SourceLocation::Current());

// All ranks start with the values of rank 0 even without this hook: what it restores or initialises is sent to the
// others. InvalidArgument for another root.
class BroadcastGlobalVariablesHook : public SessionRunHook {
 public:
  explicit BroadcastGlobalVariablesHook(int root_rank) : root_rank_(root_rank) {}
  std::string name() const override { return "BroadcastGlobalVariablesHook"; }
  absl::Status Begin(HookContext& context) override;

 private:
  const int root_rank_;
};

}  // namespace horovod
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOROVOD_HOROVOD_H_
