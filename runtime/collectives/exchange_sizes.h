// The sizes at which all-reduces over TCP switch between algorithms; also used by forecasts (tools/scale).
#ifndef TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_
#define TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_

#include <cstdint>

namespace tandem {

// With at most this many bytes to receive, every rank sends its values to every other and reduces all of them itself:
// one hop instead of two is worth the greater number of bytes. Measured with benchmarks/all_reduce.
inline constexpr int64_t kOneHopBytes = int64_t{512} << 10;
inline constexpr bool TakesOneHop(int64_t bytes, int ranks) { return bytes * (ranks - 1) <= kOneHopBytes; }

// With two hops a vector is sent in segments of this many bytes (direct_exchange.h). Measured with
// benchmarks/all_reduce against 1, 4 and 8 MiB, 2 to 8 segments at a time.
inline constexpr int64_t kExchangeSegmentBytes = int64_t{2} << 20;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_
