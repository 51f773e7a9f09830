// Reads a checkpoint to make another one of it.
#ifndef TANDEM_TOOLS_CHECKPOINT_LOAD_H_
#define TANDEM_TOOLS_CHECKPOINT_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

// `path`: a checkpoint, a model_dir (its latest), or a file of weights, whose tensors become variables of step 0.
// Errors: CheckpointReader::Open.
absl::StatusOr<CheckpointData> LoadCheckpoint(Env* env, const std::string& path);

// Whether tensor `name` is an optimizer's for a variable among `names`: "dense/kernel/Adam" where there is
// "dense/kernel".
bool IsSlotName(const std::string& name, const TensorMap& names);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_LOAD_H_
