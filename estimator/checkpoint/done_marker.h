// Files in a model_dir that say how far a TrainAndEvaluate job is. DONE: training has ended, and why; evaluators and
// schedulers wait for it. UNFINISHED: a part of the job, in training or after it, is still to be done.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_DONE_MARKER_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_DONE_MARKER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct DoneMarker {
  int64_t final_step = 0;
  // "max_steps", "end of input", "stop requested", or the reason given by the hook that asked for the stop
  std::string reason;
};

// Writes the file DONE: {"final_step": 2000, "reason": "max_steps"}.
absl::Status WriteDoneMarker(Env* env, const std::string& model_dir, const DoneMarker& marker);
// Returns nothing if the file does not exist; DataLoss if it is damaged.
absl::StatusOr<std::optional<DoneMarker>> ReadDoneMarker(Env* env, const std::string& model_dir);
// Removes DONE, since training goes on. OK if the file does not exist.
absl::Status RemoveDoneMarker(Env* env, const std::string& model_dir);

// Writes the file UNFINISHED: {"first_step": 0}, the global step at which the job began. The file exists from the
// beginning of the training until everything is done, exports included.
absl::Status WriteUnfinishedMarker(Env* env, const std::string& model_dir, int64_t first_step);
// Returns nothing if the file does not exist; DataLoss if it is damaged.
absl::StatusOr<std::optional<int64_t>> ReadUnfinishedMarker(Env* env, const std::string& model_dir);
// Removes UNFINISHED. OK if the file does not exist.
absl::Status RemoveUnfinishedMarker(Env* env, const std::string& model_dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_DONE_MARKER_H_
