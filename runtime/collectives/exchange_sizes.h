// Where all-reduces over TCP change their ways; also for forecasts (tools/scale).
#ifndef TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_
#define TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_

#include <cstdint>

namespace tandem {

// Up to this many bytes to receive, everybody sends everything to everybody and reduces for itself: one hop instead of
// two is worth the greater number of bytes. Measured with benchmarks/all_reduce.
inline constexpr int64_t kOneHopBytes = int64_t{512} << 10;
inline constexpr bool TakesOneHop(int64_t bytes, int ranks) { return bytes * (ranks - 1) <= kOneHopBytes; }

// In two hops a vector goes in segments of so many bytes (direct_exchange.h). Measured with benchmarks/all_reduce: of
// 1, 2, 4 and 8 MiB, 2 to 8 at a time.
inline constexpr int64_t kExchangeSegmentBytes = int64_t{2} << 20;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_EXCHANGE_SIZES_H_
