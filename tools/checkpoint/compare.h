// Finds the differences between two checkpoints.
#ifndef TANDEM_TOOLS_CHECKPOINT_COMPARE_H_
#define TANDEM_TOOLS_CHECKPOINT_COMPARE_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint_reader.h"

namespace tandem {

struct CheckpointDifferences {
  bool equal = true;  // true if names, types, shapes and bits are the same
  std::string text;   // a line for each difference, and the number of tensors with equal bits
};

// Compares variables and optimizer slots by name. Errors are those of reading.
absl::StatusOr<CheckpointDifferences> CompareCheckpoints(const CheckpointReader& a, const CheckpointReader& b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_COMPARE_H_
