#include "runtime/cpu/run/row_spread.h"

#include <algorithm>
#include <bit>

namespace tandem {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the cost of a microbatch of `rows` rows, at most `most`, in rows.
int64_t CostOf(int64_t rows, int64_t most) {
  return 1 + std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows))), most);
}

// Returns the cost of the thread with most work if `rows` rows are cut into microbatches of `size`, which threads take
// one after another.
int64_t LongestThread(int64_t rows, int64_t size, int threads, int64_t most) {
  const int64_t full = (rows - 1) / size, last = rows - full * size, all_busy = full / threads;
  const int64_t before_last = all_busy * CostOf(size, most) + CostOf(last, most);
  return full % threads == 0 ? before_last : std::max(before_last, (all_busy + 1) * CostOf(size, most));
}

}  // namespace

RowSpread SpreadRows(int64_t rows, int lanes, int threads, const RowSpread& compiled) {
  if (rows <= 0 || rows >= lanes * compiled.rows_per_lane) return compiled;
  const int64_t most = compiled.microbatch_rows;
  int64_t best = most;
  // Of sizes that are equally good the largest is taken, which makes the fewest calls.
  for (auto size = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most))); size >= 1; size /= 2) {
    if (LongestThread(rows, size, threads, most) < LongestThread(rows, best, threads, most)) best = size;
  }
  return {.rows_per_lane = CeilDiv(CeilDiv(rows, best), lanes) * best, .microbatch_rows = best};
}

}  // namespace tandem
