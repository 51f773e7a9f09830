#include "runtime/cpu/small_filter_grad.h"

namespace tandem {
namespace {

constexpr int64_t kWidth = 16;  // floats of a vector
// A register tile: channels of x by vectors of channels of dy. 6 x 4 takes fewer loads for a multiply-add than 8 x 2.
constexpr int64_t kTileRows = 6, kTileVectors = 4;
constexpr int64_t kTileColumns = kTileVectors * kWidth;
// Pixels that are summed up before the next tile takes them: their columns of dy stay in the first-level cache.
constexpr int64_t kChunk = 72;

}  // namespace
}  // namespace tandem

// For CPUs with AVX-512; SmallFilterGrad::Pays says whether this is one.
#pragma GCC push_options
#pragma GCC target("avx512f")

namespace tandem {
namespace {

using Vector = float __attribute__((vector_size(64)));
using UnalignedVector = float __attribute__((vector_size(64), aligned(4)));

#define TD_INLINE inline __attribute__((always_inline))

TD_INLINE const UnalignedVector& At(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
TD_INLINE UnalignedVector& At(float* p) { return *reinterpret_cast<UnalignedVector*>(p); }

// kRows rows of dw, `columns` floats apart, from the pixels [begin, end). `more`: dw has a sum already.
template <int kRows, typename Pair>
void Tile(const Pair* begin, const Pair* end, const float* x, const float* dy, int64_t columns, bool more, float* dw) {
  Vector sums[kRows][kTileVectors] = {};
  if (more) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] = At(dw + r * columns + v * kWidth);
    }
  }
  for (const Pair* p = begin; p != end; ++p) {
    const float *a = x + p->x, *b = dy + p->dy;
    Vector right[kTileVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) right[v] = At(b + v * kWidth);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const float f = a[r];
      const Vector left = {f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f};
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] += left * right[v];
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) At(dw + r * columns + v * kWidth) = sums[r][v];
  }
}

}  // namespace

void SmallFilterGrad::RunTap(int64_t tap, int64_t begin, int64_t end, const float* x, const float* dy,
                             float* dw) const {
  const SmallConvolution& c = convolution_;
  const Pair *first = pairs_.data() + begin, *last = pairs_.data() + end;
  const bool more = begin > begins_[tap];
  int64_t rows;
  for (int64_t channel = 0; channel < c.in; channel += rows) {
    const int64_t left = c.in - channel;
    rows = left >= kTileRows ? kTileRows : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    auto tile = rows == kTileRows ? Tile<kTileRows, Pair> : rows == 4 ? Tile<4, Pair> : Tile<2, Pair>;
    if (rows == 1) tile = Tile<1, Pair>;
    float* to = dw + (tap * c.in + channel) * c.out;
    for (int64_t column = 0; column < c.out; column += kTileColumns) {
      tile(first, last, x + channel, dy + column, c.out, more, to + column);
    }
  }
}

}  // namespace tandem

#pragma GCC pop_options

namespace tandem {

SmallFilterGrad::SmallFilterGrad(const SmallConvolution& convolution) : convolution_(convolution) {
  const SmallConvolution& c = convolution_;
  begins_.push_back(0);
  for (int64_t tap = 0; tap < c.kernel[0] * c.kernel[1]; ++tap) {
    for (int64_t n = 0; n < c.images; ++n) {
      for (int64_t i = 0; i < c.out_height; ++i) {
        for (int64_t j = 0; j < c.out_width; ++j) {
          const int64_t row = i * c.strides[0] + tap / c.kernel[1] - c.pad_low[0];
          const int64_t column = j * c.strides[1] + tap % c.kernel[1] - c.pad_low[1];
          if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
          pairs_.push_back(
              {((n * c.height + row) * c.width + column) * c.in, ((n * c.out_height + i) * c.out_width + j) * c.out});
        }
      }
    }
    begins_.push_back(static_cast<int64_t>(pairs_.size()));
  }
}

bool SmallFilterGrad::Pays(const SmallConvolution& c) {
  constexpr int64_t kMaxWidth = 13, kMinChannels = 16, kMaxElements = 1 << 17, kMinPixels = 32;
  return c.out_width <= kMaxWidth && c.images * c.out_height * c.out_width >= kMinPixels && c.in >= kMinChannels &&
         c.out % kTileColumns == 0 && c.kernel[0] * c.kernel[1] > 1 &&
         c.kernel[0] * c.kernel[1] * c.in * c.out <= kMaxElements && __builtin_cpu_supports("avx512f");
}

void SmallFilterGrad::Run(const float* x, const float* dy, float* dw) const {
  const int64_t taps = convolution_.kernel[0] * convolution_.kernel[1];
  const int64_t pixels = convolution_.images * convolution_.out_height * convolution_.out_width;
  // All taps of some pixels, then the next ones. A tap without pixels has a gradient too.
  for (int64_t at = 0; at < pixels; at += kChunk) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t begin = begins_[tap] + at, end = begins_[tap + 1];
      if (at == 0 || begin < end) RunTap(tap, begin, end < begin + kChunk ? end : begin + kChunk, x, dy, dw);
    }
  }
}

}  // namespace tandem
