// Converts checkpoints to named arrays, for NumPy, and back.
#ifndef TANDEM_TOOLS_CHECKPOINT_NPZ_H_
#define TANDEM_TOOLS_CHECKPOINT_NPZ_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Returns all variables and optimizer slots by name, and the scalar int64 "global_step". The seed, the input's position
// and the records of a training have no arrays and are lost. InvalidArgument if a variable is named "global_step".
absl::StatusOr<TensorMap> ArraysOf(const CheckpointData& data);

// The inverse of ArraysOf. Without an array "global_step" the step is 0. If a name is another name with a suffix, such
// as "dense/kernel/Adam" and "dense/kernel", it becomes an optimizer slot of that variable. `path` is for messages.
// DataLoss for a name that occurs twice or is empty, and for a step that is not a valid number of steps.
absl::StatusOr<CheckpointData> CheckpointOf(const std::vector<std::pair<std::string, HostTensor>>& arrays,
                                            const std::string& path);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_NPZ_H_
