// CrossDeviceOps: lets a user replace the algorithm with which a process combines the values of its devices.
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
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"

namespace TANDEM_API tandem {

// One object serves one collective of a program: its calls come one after another, always with the same tensors, so it
// may keep memory for them. An exception is an error of the step, and so is an OK status with replicas that differ.
//
// The built-in default, used if no name is given, sums in the order of the binary tree over replicas. Its bits depend
// neither on the number of threads nor on how replicas are distributed over processes. Another order of additions gives
// other bits.
class CrossDeviceOps {
 public:
  // A tensor of which each replica has its own value, in separate memory.
  struct PerReplica {
    DType dtype = DType::kFloat32;  // may also be kFloat64, kInt32, kInt64 or kBFloat16 (RunConfig.communication_dtype)
    int64_t elements = 0;
    std::vector<void*> values;  // values[r]: the `elements` numbers of replica r; alignment is 64 bytes at most
  };
  // Calls fn(i) for every i in [0, n), on the threads of the process, and returns when all have been called.
  using ParallelFor = absl::FunctionRef<void(int64_t n, absl::FunctionRef<void(int64_t)> fn)>;

  virtual ~CrossDeviceOps() = default;

  // Replaces every replica's value by the sum of all, element by element, with the same bits for all replicas. A
  // replica without examples in a step has zeros. There are at least two replicas. For a mean, the caller divides the
  // sums afterwards.
  virtual absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) = 0;

  // AllReduce for several tensors that are ready together (passes/Passes.td, td-bucket-all-reduce). The default calls
  // AllReduce for each.
  virtual absl::Status BatchAllReduce(absl::Span<const PerReplica> tensors, ParallelFor parallel_for);

  // Copies the values of replica `root` to all other replicas. Used in clusters, where the sum over the workers is in
  // replica 0's memory first. The default copies.
  virtual absl::Status Broadcast(int root, absl::Span<const PerReplica> tensors, ParallelFor parallel_for);
};

// Makes an object for one collective of a program.
using CrossDeviceOpsFactory = std::function<std::unique_ptr<CrossDeviceOps>()>;

// Registers ops under a name, which strategies use and dumps show. Call it before making the Estimator that uses the
// name, in every program that runs programs compiled with it. InvalidArgument for a null factory, and for a name that
// is empty or has characters other than letters, digits, '_', '-' and '.'; AlreadyExists for a registered name.
absl::Status RegisterCrossDeviceOps(absl::string_view name, CrossDeviceOpsFactory factory);

// Returns all registered names, also the built-in ones, sorted.
std::vector<std::string> RegisteredCrossDeviceOps();

// OK for a registered name; otherwise InvalidArgument with the registered ones.
absl::Status CheckCrossDeviceOps(absl::string_view name);

// Makes ops of a registered name. Errors: those of CheckCrossDeviceOps; InvalidArgument for a factory that throws or
// returns null, but OutOfMemoryError (base/out_of_memory.h) for one that throws std::bad_alloc.
absl::StatusOr<std::unique_ptr<CrossDeviceOps>> NewCrossDeviceOps(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_CROSS_DEVICE_OPS_H_
