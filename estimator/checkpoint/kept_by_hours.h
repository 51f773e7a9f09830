// KeptByHours: keeps one checkpoint of every so many hours for ever.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_KEPT_BY_HOURS_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_KEPT_BY_HOURS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// Keeps the first checkpoint that is saved `hours` or more after the last one that was kept, or after the first one in
// the directory. The file kept_checkpoints.json lists them, {"since": 1700000000, "steps": [100, 250]}, so they are
// known after a kill and in a copy of the directory. `since` is when the last one was kept, in seconds since 1970.
class KeptByHours {
 public:
  // With 0 hours no checkpoint is added to those that the file lists.
  KeptByHours(Env* env, const std::string& dir, double hours)
      : env_(env), path_(JoinPath(dir, "kept_checkpoints.json")), hours_(hours) {}

  // Call it when the checkpoint of `step` is on the disk.
  absl::Status Saved(int64_t step);
  // Returns the steps of the checkpoints to keep. DataLoss for a damaged file.
  absl::StatusOr<std::set<int64_t>> Steps() const;

 private:
  struct Content {
    double since = 0;
    std::set<int64_t> steps;
  };
  absl::StatusOr<Content> Read() const;

  Env* const env_;
  const std::string path_;
  const double hours_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_KEPT_BY_HOURS_H_
