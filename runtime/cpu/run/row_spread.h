// How a step with fewer rows than the program can take deals them out, in programs whose rows do not depend on each
// other.
#ifndef TANDEM_RUNTIME_CPU_RUN_ROW_SPREAD_H_
#define TANDEM_RUNTIME_CPU_RUN_ROW_SPREAD_H_

#include <cstdint>

namespace tandem {

// The rows of each lane (part of the batch), and of each of its microbatches but perhaps the last.
struct RowSpread {
  int64_t rows_per_lane = 0, microbatch_rows = 0;
  bool operator==(const RowSpread&) const = default;
};

// Deals out `rows` rows to at most `lanes` lanes that `threads` threads run, so that the thread with most work is done
// as early as possible. `compiled` is what the program was compiled for: a full step is dealt out like that, and no
// microbatch gets larger. A microbatch costs as much as its rows and one more, for what is read and called once for all
// of them; and since library calls exist for powers of two (shorter_calls.h), a short one costs as the next power.
RowSpread SpreadRows(int64_t rows, int lanes, int threads, const RowSpread& compiled);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_ROW_SPREAD_H_
