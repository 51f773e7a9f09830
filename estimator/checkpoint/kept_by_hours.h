// One checkpoint of every so many hours, for ever.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_KEPT_BY_HOURS_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_KEPT_BY_HOURS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// The first checkpoint that is saved `hours` or more after the one kept before, or after the first of the directory.
// The file kept_checkpoints.json says which, {"since": 1700000000, "steps": [100, 250]}, so that neither a kill nor a
// copy of the directory forgets it. `since`: when the last one was kept, in seconds since 1970.
class KeptByHours {
 public:
  // 0 hours: keeps none more, but those of the file.
  KeptByHours(Env* env, const std::string& dir, double hours)
      : env_(env), path_(JoinPath(dir, "kept_checkpoints.json")), hours_(hours) {}

  // To be called when the checkpoint of `step` is on the disk.
  absl::Status Saved(int64_t step);
  // DataLoss for a damaged file.
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
