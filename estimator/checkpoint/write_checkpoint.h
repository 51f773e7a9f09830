// Writes a checkpoint under a name that a user has chosen, for tools; trainings use CheckpointManager.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Makes the directory `path`, with its parents: all of it exists afterwards, or nothing. AlreadyExists if there is
// anything with this name. InvalidArgument if the name is that of another step's checkpoint ("model.ckpt-7" for step
// 8): no training would accept it.
absl::Status WriteNewCheckpoint(Env* env, const std::string& path, const CheckpointData& data);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_WRITE_CHECKPOINT_H_
