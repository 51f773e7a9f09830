#include "data/input_context.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tandem {

absl::StatusOr<int64_t> InputContext::GetPerReplicaBatchSize(int64_t global_batch_size) const {
  if (num_replicas_in_sync < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("InputContext: num_replicas_in_sync must be at least 1, got ", num_replicas_in_sync));
  }
  if (global_batch_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("InputContext: the global batch size must be at least 1, got ", global_batch_size));
  }
  if (global_batch_size % num_replicas_in_sync != 0) {
    return absl::InvalidArgumentError(absl::StrCat("InputContext: the global batch size ", global_batch_size,
                                                   " is not divisible by ", num_replicas_in_sync,
                                                   " replicas; choose a multiple of ", num_replicas_in_sync));
  }
  return global_batch_size / num_replicas_in_sync;
}

}  // namespace tandem
