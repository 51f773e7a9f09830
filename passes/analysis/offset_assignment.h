// Assigns offsets in one arena to buffers with known life times.
#ifndef TANDEM_PASSES_ANALYSIS_OFFSET_ASSIGNMENT_H_
#define TANDEM_PASSES_ANALYSIS_OFFSET_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

namespace tandem {

// A buffer that is live from command `first` to command `last`, both included.
struct LiveRange {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // offset of each range in bytes, a multiple of the alignment
  int64_t bytes = 0;             // size of the arena in bytes
};

// Places every range so that two ranges whose life times overlap never overlap in space. Tries three orders (by size,
// by size x life time, by start) with best fit, and keeps the smallest arena. Deterministic.
ArenaPlan AssignOffsets(const std::vector<LiveRange>& ranges, int64_t alignment = 64);

// Returns the largest sum of live bytes at any command: no plan can be smaller.
int64_t PeakLiveBytes(const std::vector<LiveRange>& ranges, int64_t alignment = 64);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_OFFSET_ASSIGNMENT_H_
