// TensorFloat-32: a float32 with 10 bits of fraction, which tensor cores compute with.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_TF32_H_
#define TANDEM_RUNTIME_CUDA_TESTING_TF32_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tandem {

// Rounds to the nearest, and to even between two.
inline float ToTf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isfinite(x)) bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_TF32_H_
