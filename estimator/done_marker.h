// Files in a model_dir that say how far a job of TrainAndEvaluate is. DONE: training has ended, here is why. Evaluators
// and schedulers wait for it. UNFINISHED: something of the job is still to be done, in training or behind it.
#ifndef TANDEM_ESTIMATOR_DONE_MARKER_H_
#define TANDEM_ESTIMATOR_DONE_MARKER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct DoneMarker {
  int64_t final_step = 0;
  std::string reason;  // "max_steps", "end of input", "stop requested", or what the hook said that asked for it
};

// The file DONE: {"final_step": 2000, "reason": "max_steps"}.
absl::Status WriteDoneMarker(Env* env, const std::string& model_dir, const DoneMarker& marker);
// None when there is no such file; DataLoss when it is damaged.
absl::StatusOr<std::optional<DoneMarker>> ReadDoneMarker(Env* env, const std::string& model_dir);
// Training goes on: OK when there was none.
absl::Status RemoveDoneMarker(Env* env, const std::string& model_dir);

// The file UNFINISHED: {"first_step": 0}, the global step at which the job began. It is there from the beginning of the
// training until all is done, exports too.
absl::Status WriteUnfinishedMarker(Env* env, const std::string& model_dir, int64_t first_step);
// None when there is no such file; DataLoss when it is damaged.
absl::StatusOr<std::optional<int64_t>> ReadUnfinishedMarker(Env* env, const std::string& model_dir);
// OK when there was none.
absl::Status RemoveUnfinishedMarker(Env* env, const std::string& model_dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_DONE_MARKER_H_
