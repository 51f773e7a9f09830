// ShareCheckpoint: sends a checkpoint from the chief to all workers, since only the chief needs to see model_dir.
#ifndef TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_
#define TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// Returns the chief's argument on all workers, bit for bit; ignores the others' arguments. DataLoss if what arrives
// cannot be read.
absl::StatusOr<std::optional<CheckpointData>> ShareCheckpoint(WorkerGroup& workers,
                                                              std::optional<CheckpointData> checkpoint);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_
