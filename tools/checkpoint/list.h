// Lists and checks the checkpoints of a model_dir.
#ifndef TANDEM_TOOLS_CHECKPOINT_LIST_H_
#define TANDEM_TOOLS_CHECKPOINT_LIST_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct CheckpointList {
  // A line for each checkpoint: name, step, bytes, number of variables, whether it is intact, and whether the pointer
  // file names it as the latest. Then the best recorded evaluations.
  std::string text;
  // DataLoss, with all files, if checkpoints or the pointer file are damaged.
  absl::Status damage;
};

// Reads every byte of all checkpoints to check them. NotFound when there is no such directory, or no checkpoint in it.
absl::StatusOr<CheckpointList> ListModelDir(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_LIST_H_
