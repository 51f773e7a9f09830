// How many lanes (parts of the global batch, leaves of the reduction tree) a program may have.
#ifndef TANDEM_RUNTIME_COMMANDS_LANE_COUNT_H_
#define TANDEM_RUNTIME_COMMANDS_LANE_COUNT_H_

#include <cstdint>

#include "absl/status/status.h"

namespace tandem {

inline constexpr int64_t kMaxLanes = 1 << 20;

// Returns positive `n` without its factors of two.
constexpr int64_t OddPart(int64_t n) {
  while (n % 2 == 0) n /= 2;
  return n;
}

// Returns InvalidArgument, with the counts that are possible, unless `replicas` devices can share `lanes` leaves of a
// reduction tree: a power of two times the odd part of `replicas`. 0 (the compiler chooses) is always possible.
absl::Status CheckLaneCount(int64_t lanes, int64_t replicas);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_LANE_COUNT_H_
