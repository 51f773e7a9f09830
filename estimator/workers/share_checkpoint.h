// A checkpoint from the chief's memory or disk to all workers: only the chief needs to see model_dir.
#ifndef TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_
#define TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// What the chief gives, on all workers, bit for bit; what the others give is not looked at. DataLoss when what arrives
// cannot be read.
absl::StatusOr<std::optional<CheckpointData>> ShareCheckpoint(WorkerGroup& workers,
                                                              std::optional<CheckpointData> checkpoint);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_SHARE_CHECKPOINT_H_
