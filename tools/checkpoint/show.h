// Shows the contents of a checkpoint.
#ifndef TANDEM_TOOLS_CHECKPOINT_SHOW_H_
#define TANDEM_TOOLS_CHECKPOINT_SHOW_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint_reader.h"

namespace tandem {

// Returns a table of all variables and optimizer slots: type, shape, least, mean and largest value, Euclidean norm, and
// the number of values that are not finite.
absl::StatusOr<std::string> ShowCheckpoint(const CheckpointReader& checkpoint);

// Returns the values of one tensor, at most `limit` of them (-1: all).
absl::StatusOr<std::string> ShowTensor(const CheckpointReader& checkpoint, const std::string& name, int64_t limit);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_SHOW_H_
