// How many lanes a program may have.
#ifndef TANDEM_RUNTIME_LANE_COUNT_H_
#define TANDEM_RUNTIME_LANE_COUNT_H_

#include <cstdint>

#include "absl/status/status.h"

namespace tandem {

inline constexpr int64_t kMaxLanes = 1 << 20;

// Positive `n` without its factors of two.
constexpr int64_t OddPart(int64_t n) {
  while (n % 2 == 0) n /= 2;
  return n;
}

// InvalidArgument, with what is possible, unless `replicas` devices can share so many leaves of a reduction tree: a
// power of two times the odd part of their number. 0 (for a choice of the compiler) is possible always.
absl::Status CheckLaneCount(int64_t lanes, int64_t replicas);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LANE_COUNT_H_
