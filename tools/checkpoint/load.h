// Reads a checkpoint into memory, so that another one can be made from it.
#ifndef TANDEM_TOOLS_CHECKPOINT_LOAD_H_
#define TANDEM_TOOLS_CHECKPOINT_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// Loads `path`: a checkpoint, a model_dir (its latest checkpoint), or a file of weights, whose tensors become variables
// at step 0. Errors are those of CheckpointReader::Open.
absl::StatusOr<CheckpointData> LoadCheckpoint(Env* env, const std::string& path);

// True if tensor `name` is an optimizer's slot of a variable in `names`: "dense/kernel/Adam" if there is
// "dense/kernel".
bool IsSlotName(const std::string& name, const TensorMap& names);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_LOAD_H_
