#include "tools/calibrate/loops.h"

#include <immintrin.h>

#include <cstring>

#define TD_FOR_EACH_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

namespace tandem {

TD_FOR_EACH_ISA void AddScaled(const float* __restrict x, float* __restrict y, float s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += s * x[i];
}

TD_FOR_EACH_ISA void Polynomial(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i], p = 0.5f;
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) p = p * v + 0.25f;
    y[i] = p;
  }
}

namespace {

__attribute__((target("avx512f,avx512bf16"))) void PairProductsAvx512(const uint16_t* x, float* y, int64_t n) {
  __m512 sums[kPairSums];
#pragma GCC unroll 16
  for (int k = 0; k < kPairSums; ++k) sums[k] = _mm512_setzero_ps();
  const __m512bh factor = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f00));
  for (int64_t i = 0; i < n; i += 32 * kPairSums) {
#pragma GCC unroll 16
    for (int k = 0; k < kPairSums; ++k) {
      const __m512bh row = reinterpret_cast<__m512bh>(_mm512_loadu_si512(x + i + 32 * k));
      sums[k] = _mm512_dpbf16_ps(sums[k], row, factor);
    }
  }
  for (int k = 0; k < kPairSums; ++k) _mm512_storeu_ps(y + 16 * k, sums[k]);
}

}  // namespace

bool PairProducts(const uint16_t* x, float* y, int64_t n) {
  if (!__builtin_cpu_supports("avx512bf16")) return false;
  PairProductsAvx512(x, y, n);
  return true;
}

TD_FOR_EACH_ISA void Exp(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i] < -87 ? -87 : x[i] > 88 ? 88 : x[i];
    int32_t k = static_cast<int32_t>(v * 1.44269504f + (v < 0 ? -0.5f : 0.5f));
    float r = v - static_cast<float>(k) * 0.693359375f + static_cast<float>(k) * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    int32_t bits = (k + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    y[i] = p * scale;
  }
}

}  // namespace tandem
