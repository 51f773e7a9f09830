// CrossDeviceOps: how a process combines the values of its devices, where a user has an algorithm of his own for it.
//
//   class Pairwise : public CrossDeviceOps {
//     absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) override { ... }
//   };
//   TD_RETURN_IF_ERROR(RegisterCrossDeviceOps("Pairwise", [] { return std::make_unique<Pairwise>(); }));
//   RunConfig config{.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"}, "Pairwise")};
#ifndef TANDEM_BASE_CROSS_DEVICE_OPS_H_
#define TANDEM_BASE_CROSS_DEVICE_OPS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/dtype.h"

namespace tandem {

// One object serves one collective of a program: its calls come one after another, always with the same tensors, so it
// may keep memory for them. What functions throw is an error of the step, and so is an OK status with replicas that
// differ.
//
// Built in, and used where no name is given: sums in the order of the binary tree over replicas, whose bits depend
// neither on the number of threads nor on how replicas are spread over processes. Another order of additions makes
// other bits.
class CrossDeviceOps {
 public:
  // A tensor of which each replica has a value, in memory of its own.
  struct PerReplica {
    DType dtype = DType::kFloat32;  // or kFloat64, kInt32, kInt64, kBFloat16 (RunConfig.communication_dtype)
    int64_t elements = 0;
    std::vector<void*> values;  // values[r]: replica r's `elements` numbers; not aligned to more than 64 bytes
  };
  // Calls fn(i) for every i in [0, n), on the threads of the process, and returns when all have been called.
  using ParallelFor = absl::FunctionRef<void(int64_t n, absl::FunctionRef<void(int64_t)> fn)>;

  virtual ~CrossDeviceOps() = default;

  // In place: every replica's value becomes the sum of all, element by element, with the same bits for all replicas. A
  // replica without examples in a step has zeros. There are two replicas at least. Who wants a mean divides later.
  virtual absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) = 0;

  // The same for the tensors that are ready together (passes/Passes.td, td-bucket-all-reduce). Calls AllReduce for each
  // unless it is overridden.
  virtual absl::Status BatchAllReduce(absl::Span<const PerReplica> tensors, ParallelFor parallel_for);

  // Every replica's values become those of `root`: what the workers of a cluster have summed up, in replica 0's memory,
  // comes to the other devices so. Copies unless it is overridden.
  virtual absl::Status Broadcast(int root, absl::Span<const PerReplica> tensors, ParallelFor parallel_for);
};

using CrossDeviceOpsFactory = std::function<std::unique_ptr<CrossDeviceOps>()>;

// Makes ops known under a name, which strategies give and dumps show. To be called before the Estimator that uses it,
// in every program that runs what was compiled with it. InvalidArgument for an empty name or one of other characters
// than letters, digits, '_', '-' and '.', and for no factory; AlreadyExists.
absl::Status RegisterCrossDeviceOps(absl::string_view name, CrossDeviceOpsFactory factory);

// Those registered so far, built-in ones among them, sorted.
std::vector<std::string> RegisteredCrossDeviceOps();

// OK for a name that is registered; InvalidArgument, with those that are, otherwise.
absl::Status CheckCrossDeviceOps(absl::string_view name);

// Ops of a registered name. Errors: those of CheckCrossDeviceOps, and InvalidArgument for a factory that throws or
// makes nothing.
absl::StatusOr<std::unique_ptr<CrossDeviceOps>> NewCrossDeviceOps(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_CROSS_DEVICE_OPS_H_
