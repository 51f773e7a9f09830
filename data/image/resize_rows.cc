#include "data/image/resize_rows.h"

#include <emmintrin.h>

#include <cstring>

#include "base/target_clones.h"

#define TD_INLINE inline __attribute__((always_inline))

namespace tandem::image_internal {
namespace {

// Four floats as a vector type of the compiler. Pixels of three channels are computed as four values: the fourth
// belongs to the next pixel, whose store overwrites it.
typedef float Float4 __attribute__((vector_size(16)));

// The conversion uses SSE2 intrinsics, which every x86-64 CPU has, because GCC 12 converts its own vector types one
// value at a time.
TD_INLINE Float4 Load4(const uint8_t* p) {
  int32_t bytes;
  memcpy(&bytes, p, sizeof(bytes));
  const __m128i zero = _mm_setzero_si128();
  const __m128i words = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero);
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(words, zero));
}

TD_INLINE Float4 Load4(const float* p) {
  Float4 values;
  memcpy(&values, p, sizeof(values));
  return values;
}

// Returns how many of the first output pixels may be computed with Load4: four values must be readable from each of
// their input pixels, and the last output pixel is excluded because its store would exceed the row.
template <typename Last>
TD_INLINE int64_t SafePixels(int64_t out_width, int64_t width, int64_t channels, Last last) {
  int64_t safe = out_width - 1;
  while (safe > 0 && last(safe - 1) * channels + 4 > width * channels) --safe;
  return safe;
}

template <typename T>
TD_INLINE void LerpColumnsOf(const T* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out) {
  const int64_t out_width = axis.lower.size();
  const int32_t *const lower = axis.lower.data(), *const upper = axis.upper.data();
  const float* const fraction = axis.fraction.data();
  int64_t x = 0;
  if (channels == 3) {
    const int64_t safe = SafePixels(out_width, width, channels, [&](int64_t i) { return upper[i]; });
    for (; x < safe; ++x) {
      const Float4 a = Load4(row + lower[x] * 3), b = Load4(row + upper[x] * 3);
      const Float4 value = a + (b - a) * fraction[x];
      memcpy(out + 3 * x, &value, sizeof(value));
    }
  } else if (channels == 1) {
    for (; x < out_width; ++x) {
      const float a = row[lower[x]], b = row[upper[x]];
      out[x] = a + (b - a) * fraction[x];
    }
  }
  for (; x < out_width; ++x) {
    const T *const a = row + lower[x] * channels, *const b = row + upper[x] * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const float left = a[c], right = b[c];
      out[x * channels + c] = left + (right - left) * fraction[x];
    }
  }
}

template <typename T>
TD_INLINE void SumColumnsOf(const T* row, int64_t width, int64_t channels, const SumAxis& axis, float* out) {
  const int64_t out_width = axis.start.size();
  const float* weights = axis.weights.data();
  int64_t x = 0;
  if (channels == 3) {
    const auto last = [&](int64_t i) { return axis.start[i] + axis.count[i] - 1; };
    const int64_t safe = SafePixels(out_width, width, channels, last);
    for (; x < safe; ++x, weights += axis.span) {
      const T* const in = row + axis.start[x] * 3;
      Float4 sum = Load4(in) * weights[0];
      for (int32_t k = 1; k < axis.count[x]; ++k) sum += Load4(in + 3 * k) * weights[k];
      memcpy(out + 3 * x, &sum, sizeof(sum));
    }
  }
  for (; x < out_width; ++x, weights += axis.span) {
    const T* const in = row + axis.start[x] * channels;
    for (int64_t c = 0; c < channels; ++c) {
      float sum = static_cast<float>(in[c]) * weights[0];
      for (int32_t k = 1; k < axis.count[x]; ++k) sum += static_cast<float>(in[k * channels + c]) * weights[k];
      out[x * channels + c] = sum;
    }
  }
}

}  // namespace

TD_CLONES void LerpRows(const float* a, const float* b, float fraction, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + (b[i] - a[i]) * fraction;
}

TD_CLONES void ScaleRow(const uint8_t* a, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = weight * a[i];
}
TD_CLONES void ScaleRow(const float* a, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = weight * a[i];
}
TD_CLONES void AddScaledRow(const uint8_t* a, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] += weight * a[i];
}
TD_CLONES void AddScaledRow(const float* a, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] += weight * a[i];
}

TD_CLONES void RoundRow(const float* a, int64_t n, uint8_t* __restrict out) {
  // At 2^23 a float has no bits left for a fraction, so adding this number makes the hardware round to an integer,
  // halves to the even one.
  constexpr float kShift = 0x1p23f;
  for (int64_t i = 0; i < n; ++i) {
    float v = a[i] > 0.0f ? a[i] : 0.0f;
    v = v < 255.0f ? v : 255.0f;
    out[i] = static_cast<uint8_t>(static_cast<int32_t>((v + kShift) - kShift));
  }
}

TD_CLONES void LerpColumns(const uint8_t* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out) {
  LerpColumnsOf(row, width, channels, axis, out);
}
TD_CLONES void LerpColumns(const float* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out) {
  LerpColumnsOf(row, width, channels, axis, out);
}
TD_CLONES void SumColumns(const uint8_t* row, int64_t width, int64_t channels, const SumAxis& axis, float* out) {
  SumColumnsOf(row, width, channels, axis, out);
}
TD_CLONES void SumColumns(const float* row, int64_t width, int64_t channels, const SumAxis& axis, float* out) {
  SumColumnsOf(row, width, channels, axis, out);
}

}  // namespace tandem::image_internal
