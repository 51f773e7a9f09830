// The checkpoints of a model_dir.
#ifndef TANDEM_TOOLS_CHECKPOINT_LIST_H_
#define TANDEM_TOOLS_CHECKPOINT_LIST_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct CheckpointList {
  // A line for each checkpoint: name, step, bytes, number of variables, whether it is intact, and whether the pointer
  // names it; then the best evaluations on record.
  std::string text;
  // DataLoss, with all files, when checkpoints or the pointer are damaged.
  absl::Status damage;
};

// NotFound when there is no such directory, or no checkpoint in it. Checks every byte.
absl::StatusOr<CheckpointList> ListModelDir(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_LIST_H_
