// The order of the reduction tree (runtime/collectives/reduction_tree.h) for values that only a device can combine.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_DEVICE_TREE_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_DEVICE_TREE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// Calls combine(a, b), which must make leaf a the combination of leaves a and b (a is left of b), in the tree's order
// over the leaves that are present. Returns the leaf that holds the result: the first one present; -1 when there is
// none.
absl::StatusOr<int> CombineInTree(const std::vector<bool>& present,
                                  absl::FunctionRef<absl::Status(int a, int b)> combine);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_DEVICE_TREE_H_
