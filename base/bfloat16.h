// Rounding to bfloat16: float32's exponent and the upper 7 bits of its fraction.
#ifndef TANDEM_BASE_BFLOAT16_H_
#define TANDEM_BASE_BFLOAT16_H_

#include <cstdint>
#include <cstring>

namespace tandem {

// Returns the bits of the bfloat16 nearest to x; of two that are equally near, the even one. Infinities stay infinite,
// large numbers overflow to infinity, and any NaN becomes a quiet NaN.
inline uint16_t ToBFloat16Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float FromBFloat16Bits(uint16_t b) {
  uint32_t bits = static_cast<uint32_t>(b) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Rounds x to float32 and then to bfloat16, as compiled programs do.
inline double RoundToBFloat16(double x) { return FromBFloat16Bits(ToBFloat16Bits(static_cast<float>(x))); }

}  // namespace tandem

#endif  // TANDEM_BASE_BFLOAT16_H_
