// Computes the mean of several checkpoints.
#ifndef TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_
#define TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Returns the mean of the variables of all checkpoints, element by element, summed in double precision and rounded
// once. Variables that are not floating-point, the step and the seed are those of the last checkpoint. Optimizer slots,
// input position and records are left out, because no training was ever in this state. FailedPrecondition, with all
// differences, when the checkpoints have different variables.
absl::StatusOr<CheckpointData> AverageCheckpoints(Env* env, const std::vector<std::string>& paths);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_
