#include "runtime/cpu/kernels/direct_filter_grad.h"

#include <algorithm>

#include "runtime/cpu/kernels/instruction_set.h"

namespace tandem {
namespace {

constexpr int64_t kWidth = 16;  // floats of a vector register
// A register tile has kTileRows channels of x and kTileVectors vectors of channels of dy. 6 x 4 needs fewer loads per
// multiply-add than 8 x 2.
constexpr int64_t kTileRows = 6, kTileVectors = 4;
constexpr int64_t kTileColumns = kTileVectors * kWidth;
// The number of pixels over which a tile sums before the next tile does. Their columns of dy stay in the first-level
// cache.
constexpr int64_t kChunk = 72;
// The most elements of a gradient that stays in the second-level cache.
constexpr int64_t kMaxCached = 1 << 17;

// How a tile adds the sum over earlier pixels. kNone: there is no such sum. kBefore: the tile's registers begin with
// it. kAfter: it is not in a near cache, so the tile prefetches it while it computes, and adds it at the end.
enum class Earlier { kNone, kBefore, kAfter };

int64_t Taps(const FilterGradShape& c) { return c.kernel[0] * c.kernel[1]; }
int64_t Pixels(const FilterGradShape& c) { return c.images * c.out_height * c.out_width; }
int64_t GradientSize(const FilterGradShape& c) { return Taps(c) * c.in * c.out; }

}  // namespace
}  // namespace tandem

// The code below is for CPUs with AVX-512.
#pragma GCC push_options
#pragma GCC target("avx512f")

namespace tandem {
namespace {

using Vector = float __attribute__((vector_size(64)));
using UnalignedVector = float __attribute__((vector_size(64), aligned(4)));

#define TD_INLINE inline __attribute__((always_inline))

TD_INLINE const UnalignedVector& At(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
TD_INLINE UnalignedVector& At(float* p) { return *reinterpret_cast<UnalignedVector*>(p); }

// Computes kRows rows of dw, `columns` floats apart, from the pairs of pixels [begin, end).
template <int kRows, Earlier earlier, typename Pair>
void Tile(const Pair* begin, const Pair* end, const float* x, const float* dy, int64_t columns, float* dw) {
  Vector sums[kRows][kTileVectors] = {};
  if constexpr (earlier == Earlier::kBefore) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] = At(dw + r * columns + v * kWidth);
    }
  } else if constexpr (earlier == Earlier::kAfter) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) __builtin_prefetch(dw + r * columns + v * kWidth, 1);
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
  if constexpr (earlier == Earlier::kAfter) {
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] += At(dw + r * columns + v * kWidth);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) At(dw + r * columns + v * kWidth) = sums[r][v];
  }
}

template <Earlier earlier, typename Pair>
void Tiles(const Pair* begin, const Pair* end, const float* x, const float* dy, int64_t in, int64_t columns,
           float* dw) {
  int64_t rows;
  for (int64_t channel = 0; channel < in; channel += rows) {
    const int64_t left = in - channel;
    // 8 rows become two tiles of 4
    rows = left >= kTileRows && left != 8 ? kTileRows : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const float* from = x + channel;
    float* to = dw + channel * columns;
    if (rows == kTileRows) {
      Tile<kTileRows, earlier>(begin, end, from, dy, columns, to);
    } else if (rows == 4) {
      Tile<4, earlier>(begin, end, from, dy, columns, to);
    } else if (rows == 2) {
      Tile<2, earlier>(begin, end, from, dy, columns, to);
    } else {
      Tile<1, earlier>(begin, end, from, dy, columns, to);
    }
  }
}

}  // namespace

void DirectFilterGrad::RunTap(int64_t chunk, int64_t tap, const float* x, const float* dy, float* dw) const {
  const FilterGradShape& c = convolution_;
  const int64_t* begin = begins_.data() + chunk * Taps(c) + tap;
  const Pair *first = pairs_.data() + begin[0], *last = pairs_.data() + begin[1];
  if (chunk > 0 && first == last) return;
  const bool cached = GradientSize(c) <= kMaxCached;
  auto tiles = chunk == 0 ? Tiles<Earlier::kNone, Pair>
               : cached   ? Tiles<Earlier::kBefore, Pair>
                          : Tiles<Earlier::kAfter, Pair>;
  tiles(first, last, x, dy, c.in, c.out, dw + tap * c.in * c.out);
}

void DirectFilterGrad::PackColumns(const float* dy, int64_t pixels, float* panel) const {
  for (int64_t i = 0; i < pixels; ++i) {
    const float* from = dy + i * convolution_.out;
    for (int64_t v = 0; v < kTileColumns; v += kWidth) At(panel + i * kTileColumns + v) = At(from + v);
  }
}

}  // namespace tandem

#pragma GCC pop_options

namespace tandem {

DirectFilterGrad::DirectFilterGrad(const FilterGradShape& convolution) : convolution_(convolution) {
  const FilterGradShape& c = convolution_;
  begins_.push_back(0);
  for (int64_t at = 0; at < Pixels(c); at += kChunk) {
    const int64_t end = std::min(at + kChunk, Pixels(c));
    for (int64_t tap = 0; tap < Taps(c); ++tap) {
      for (int64_t pixel = at; pixel < end; ++pixel) {
        const int64_t j = pixel % c.out_width, i = pixel / c.out_width % c.out_height;
        const int64_t n = pixel / (c.out_width * c.out_height);
        const int64_t row = i * c.strides[0] + tap / c.kernel[1] - c.pad_low[0];
        const int64_t column = j * c.strides[1] + tap % c.kernel[1] - c.pad_low[1];
        if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
        pairs_.push_back({((n * c.height + row) * c.width + column) * c.in, (pixel - at) * kTileColumns});
      }
      begins_.push_back(static_cast<int64_t>(pairs_.size()));
    }
  }
}

void DirectFilterGrad::Run(const float* x, const float* dy, float* dw) const {
  const FilterGradShape& c = convolution_;
  alignas(64) float panel[kChunk * kTileColumns];
  // All taps are computed for one chunk of pixels and one group of columns before the next. In the first chunk this
  // also sets the gradient of a tap without pixels to 0.
  for (int64_t at = 0; at < Pixels(c); at += kChunk) {
    for (int64_t column = 0; column < c.out; column += kTileColumns) {
      const float* columns = dy + at * c.out + column;
      if (c.out > kTileColumns) {  // columns of longer rows would compete for the same cache sets, so they are copied
        PackColumns(columns, std::min(kChunk, Pixels(c) - at), panel);
        columns = panel;
      }
      for (int64_t tap = 0; tap < Taps(c); ++tap) {
        RunTap(at / kChunk, tap, x, columns, dw + column);
      }
    }
  }
}

}  // namespace tandem
