#include "data/image/lerp_two_rows.h"

#include <immintrin.h>

#include <algorithm>

// The attribute does not include "fma", so that no product and sum are fused: all instruction sets give the same bits.
#define TD_AVX2 __attribute__((target("avx2")))

namespace tandem::image_internal {
namespace {

float Lerp(float a, float b, float fraction) { return a + (b - a) * fraction; }

// Computes output pixels [begin, end), one value at a time.
void LerpPixels(const uint8_t* lower, const uint8_t* upper, int64_t channels, const LerpAxis& columns,
                float row_fraction, int64_t begin, int64_t end, float* out) {
  for (int64_t x = begin; x < end; ++x) {
    const int64_t left = columns.lower[x] * channels, right = columns.upper[x] * channels;
    const float fraction = columns.fraction[x];
    for (int64_t c = 0; c < channels; ++c) {
      out[x * channels + c] = Lerp(Lerp(lower[left + c], lower[right + c], fraction),
                                   Lerp(upper[left + c], upper[right + c], fraction), row_fraction);
    }
  }
}

// A range of output pixels that can be computed from one load of `bytes` bytes per input row, which begins at the input
// pixel `lower` and covers its right neighbour; the load must be within the row. Where `upper` equals `lower`, the
// fraction is 0, so that the neighbour does not matter. This does not hold for output pixels at the edges, beyond the
// outermost centres, which are not in the range.
struct Range {
  int64_t begin, end;
};
Range PixelsBetweenNeighbours(const LerpAxis& columns, int64_t width, int64_t channels, int64_t bytes) {
  int64_t begin = 0, end = columns.lower.size();
  while (end > 0 && columns.lower[end - 1] * channels + bytes > width * channels) --end;
  while (begin < end && columns.upper[begin] == columns.lower[begin] && columns.fraction[begin] != 0) ++begin;
  return {begin, end};
}

TD_AVX2 inline __m256 ToFloats(__m128i bytes) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)); }

TD_AVX2 inline __m256 Lerp(__m256 a, __m256 b, __m256 fraction) {
  return _mm256_add_ps(a, _mm256_mul_ps(_mm256_sub_ps(b, a), fraction));
}

TD_AVX2 inline __m128i Load8(const uint8_t* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)); }

// Computes pixels of three channels in vectors of four floats. The fourth value is garbage, which the store of the next
// pixel overwrites.
TD_AVX2 void LerpThreeChannels(const uint8_t* lower, const uint8_t* upper, const LerpAxis& columns, float row_fraction,
                               int64_t begin, int64_t end, float* out) {
  // These masks pick from eight bytes of each row the bytes of the pixel (kLeft) and of its right neighbour (kRight).
  const __m128i kLeft = _mm_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i kRight = _mm_setr_epi8(3, 4, 5, 6, 11, 12, 13, 14, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128 between = _mm_set1_ps(row_fraction);
  for (int64_t x = begin; x < end; ++x) {
    const int64_t at = int64_t{3} * columns.lower[x];
    const __m128i pixels = _mm_unpacklo_epi64(Load8(lower + at), Load8(upper + at));
    const __m256 both = Lerp(ToFloats(_mm_shuffle_epi8(pixels, kLeft)), ToFloats(_mm_shuffle_epi8(pixels, kRight)),
                             _mm256_broadcast_ss(&columns.fraction[x]));
    const __m128 a = _mm256_castps256_ps128(both), b = _mm256_extractf128_ps(both, 1);
    _mm_storeu_ps(out + 3 * x, _mm_add_ps(a, _mm_mul_ps(_mm_sub_ps(b, a), between)));
  }
}

// Computes pixels of one channel, eight at a time.
TD_AVX2 int64_t LerpOneChannel(const uint8_t* lower, const uint8_t* upper, const LerpAxis& columns, float row_fraction,
                               int64_t begin, int64_t end, float* out) {
  const __m256 between = _mm256_set1_ps(row_fraction);
  const __m256i byte = _mm256_set1_epi32(255);
  const auto row = [&](const uint8_t* p, __m256i at, __m256 fraction) TD_AVX2 {
    const __m256i pixels = _mm256_i32gather_epi32(reinterpret_cast<const int*>(p), at, 1);
    return Lerp(_mm256_cvtepi32_ps(_mm256_and_si256(pixels, byte)),
                _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(pixels, 8), byte)), fraction);
  };
  int64_t x = begin;
  for (; x + 8 <= end; x += 8) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&columns.lower[x]));
    const __m256 fraction = _mm256_loadu_ps(&columns.fraction[x]);
    _mm256_storeu_ps(out + x, Lerp(row(lower, at, fraction), row(upper, at, fraction), between));
  }
  return x;
}

}  // namespace

bool CanLerpTwoRows(int64_t channels) { return (channels == 1 || channels == 3) && __builtin_cpu_supports("avx2"); }

void LerpTwoRows(const uint8_t* lower, const uint8_t* upper, int64_t width, int64_t channels, const LerpAxis& columns,
                 float row_fraction, float* out) {
  const int64_t out_width = columns.lower.size();
  int64_t done = 0;  // vectors have computed the pixels from fast.begin up to this one
  Range fast = PixelsBetweenNeighbours(columns, width, channels, channels == 3 ? 8 : 4);
  if (channels == 3) {
    // Pixels of three channels are stored as four floats, which must not exceed the output row.
    fast.end = std::max(fast.begin, std::min(fast.end, out_width - 1));
    LerpThreeChannels(lower, upper, columns, row_fraction, fast.begin, fast.end, out);
    done = fast.end;
  } else {
    done = LerpOneChannel(lower, upper, columns, row_fraction, fast.begin, fast.end, out);
  }
  LerpPixels(lower, upper, channels, columns, row_fraction, 0, fast.begin, out);
  LerpPixels(lower, upper, channels, columns, row_fraction, done, out_width, out);
}

}  // namespace tandem::image_internal
