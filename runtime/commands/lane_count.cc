#include "runtime/commands/lane_count.h"

#include "absl/strings/str_cat.h"

namespace tandem {

absl::Status CheckLaneCount(int64_t lanes, int64_t replicas) {
  if (replicas < 1) return absl::InvalidArgumentError(absl::StrCat("there must be a device, got ", replicas));
  const int64_t odd = OddPart(replicas);
  if (lanes == 0 || (lanes > 0 && lanes <= kMaxLanes && OddPart(lanes) == odd)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("lanes = ", lanes, " cannot be had with ", replicas,
                                                 replicas == 1 ? " device" : " devices", ": they must be one of ", odd,
                                                 ", ", 2 * odd, ", ", 4 * odd, ", ", 8 * odd, " and so on up to ",
                                                 kMaxLanes, ", or 0, which lets the compiler choose"));
}

}  // namespace tandem
