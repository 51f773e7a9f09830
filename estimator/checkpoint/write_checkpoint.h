// Writes a checkpoint under a name that a user chose, as tools do; a training has its CheckpointManager.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Makes the directory `path`, with its parents: all of it is there, or nothing. AlreadyExists when there is anything
// under this name. InvalidArgument when the name is that of another step's checkpoint ("model.ckpt-7" for step 8):
// no training would take it.
absl::Status WriteNewCheckpoint(Env* env, const std::string& path, const CheckpointData& data);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_
