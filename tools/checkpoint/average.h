// The mean of several checkpoints.
#ifndef TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_
#define TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Each element of a variable is the mean of those of all checkpoints, summed in double precision and rounded once.
// Variables that are not of floating point are those of the last path, and so are step and seed. Without slots, input
// position and records: a mean is nothing that a training was at. FailedPrecondition, with all differences, when the
// variables are not the same ones.
absl::StatusOr<CheckpointData> AverageCheckpoints(Env* env, const std::vector<std::string>& paths);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_AVERAGE_H_
