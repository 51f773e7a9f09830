// Philox4x32-10, a counter-based random generator.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#ifndef TANDEM_BASE_PHILOX_H_
#define TANDEM_BASE_PHILOX_H_

#include <array>
#include <cstdint>

namespace tandem {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

// Returns four random words that depend only on the counter and the key.
inline PhiloxCounter Philox4x32(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

// Returns a number uniform in [0, 1): the upper 24 bits of a word, exactly representable in float32.
inline float UniformFloat(uint32_t word) { return static_cast<float>(word >> 8) * 0x1.0p-24f; }

}  // namespace tandem

#endif  // TANDEM_BASE_PHILOX_H_
