#include "runtime/cpu/plain_product.h"

// Everything below is for CPUs with AVX-512; PlainProductPays says whether this is one.
#pragma GCC push_options
#pragma GCC target("avx512f")

namespace tandem {
namespace {

using Vector = float __attribute__((vector_size(64)));
using UnalignedVector = float __attribute__((vector_size(64), aligned(4)));
using Indices = int32_t __attribute__((vector_size(64)));

constexpr int64_t kWidth = 16;  // floats of a vector
// Elements of the rows of the matrix that are gone through together: with as many to come, a second-level cache.
constexpr int64_t kBlockElements = 1 << 16;
constexpr int64_t kBackRows = 4, kBackColumns = 4;

#define TD_INLINE inline __attribute__((always_inline))

TD_INLINE const UnalignedVector& At(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
TD_INLINE UnalignedVector& At(float* p) { return *reinterpret_cast<UnalignedVector*>(p); }

// Rows [begin, end) of the matrix.
struct Block {
  int64_t begin, end;
  const float* next;  // what comes into the cache meanwhile, a line after the other: the rows behind
};

// kRows rows x kVectors vectors of the result, kept in registers while the block's rows of `w` go by, and in `sums`
// until the next block: there they lie close together, while in rows of 4 KiB they would all want one set of the first
// cache.
template <int kRows, int kVectors>
TD_INLINE void ForwardTile(const PlainProduct& p, Block& block, const float* x, const float* w, const float* bias,
                           float* y, float* sums) {
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = block.begin == 0 ? Vector{} : At(sums + (r * kVectors + v) * kWidth);
  }
  const float* next = block.next;
  const float* row = w + block.begin * p.columns;
  for (int64_t k = block.begin; k < block.end; ++k, row += p.columns) {
    Vector b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) b[v] = At(row + v * kWidth);
    // A panel's rows lie in pages of their own, which the core's prefetchers do not follow. Behind the matrix this is
    // harmless.
    __builtin_prefetch(next, 0, 2);
    next += kWidth;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float f = x[r * p.depth + k];
      const Vector a = {f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += a * b[v];
    }
  }
  block.next = next;
  if (block.end < p.depth) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) At(sums + (r * kVectors + v) * kWidth) = sum[r][v];
    }
    return;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector s = sum[r][v];
      if (bias != nullptr) s += At(bias + v * kWidth);
      if (p.relu) s = s < Vector{} ? Vector{} : s;
      At(y + r * p.columns + v * kWidth) = s;
    }
  }
}

template <int kVectors>
void ForwardColumns(const PlainProduct& p, Block& block, const float* x, const float* w, const float* bias, float* y,
                    float* sums) {
  int64_t r = 0;
  for (; r + 8 <= p.rows; r += 8)
    ForwardTile<8, kVectors>(p, block, x + r * p.depth, w, bias, y + r * p.columns, sums + r * kVectors * kWidth);
  for (; r + 4 <= p.rows; r += 4)
    ForwardTile<4, kVectors>(p, block, x + r * p.depth, w, bias, y + r * p.columns, sums + r * kVectors * kWidth);
  for (; r < p.rows; ++r)
    ForwardTile<1, kVectors>(p, block, x + r * p.depth, w, bias, y + r * p.columns, sums + r * kVectors * kWidth);
}

void Forward(const PlainProduct& p, const float* x, const float* w, const float* bias, float* y, float* scratch) {
  const int64_t fit = kBlockElements / p.columns, step = fit < 16 ? 16 : fit;
  for (int64_t k = 0; k < p.depth; k += step) {
    const int64_t end = k + step < p.depth ? k + step : p.depth;
    Block block = {k, end, w + end * p.columns};
    int64_t vectors;
    for (int64_t c = 0; c < p.columns; c += vectors * kWidth) {
      // A last tile of one vector would wait for its own sums: four vectors are two and two.
      const int64_t left = (p.columns - c) / kWidth;
      vectors = left == 4 ? 2 : left < 3 ? left : 3;
      auto columns = vectors == 3 ? ForwardColumns<3> : vectors == 2 ? ForwardColumns<2> : ForwardColumns<1>;
      columns(p, block, x, w + c, bias != nullptr ? bias + c : nullptr, y + c, scratch + c * p.rows);
    }
  }
}

// Adds neighbours that are S lanes apart: of a into lanes without bit S, of b into those with it.
template <int S>
TD_INLINE void Fold(const Vector& a, const Vector& b, Vector& to) {
  Indices lower, upper;
  for (int i = 0; i < kWidth; ++i) {
    lower[i] = (i & S) != 0 ? static_cast<int>(kWidth) + i - S : i;
    upper[i] = (i & S) != 0 ? static_cast<int>(kWidth) + i : i + S;
  }
  to = __builtin_shuffle(a, b, lower) + __builtin_shuffle(a, b, upper);
}

// Lane i of the result is the sum of s[i]'s lanes.
TD_INLINE void SumLanes(const Vector (&s)[16], Vector& to) {
  Vector pairs[8], fours[4], eights[2];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) Fold<1>(s[2 * i], s[2 * i + 1], pairs[i]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) Fold<2>(pairs[2 * i], pairs[2 * i + 1], fours[i]);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) Fold<4>(fours[2 * i], fours[2 * i + 1], eights[i]);
  Fold<8>(eights[0], eights[1], to);
}

// Products of 4 rows of x, whose vectors take turns in `x`, with 4 of w, of which `rows` and `columns` count.
TD_INLINE void BackwardTile(const PlainProduct& p, const float* x, int64_t rows, const float* w, int64_t columns,
                            const float* next, const float* bias, float* y) {
  const float* ws[kBackColumns];
  for (int64_t i = 0; i < kBackColumns; ++i) ws[i] = w + (i < columns ? i : columns - 1) * p.depth;
  Vector sum[16] = {};
  for (int64_t k = 0; k < p.depth; k += kWidth, x += kBackRows * kWidth) {
    Vector a[kBackRows];
#pragma GCC unroll 4
    for (int r = 0; r < kBackRows; ++r) a[r] = At(x + r * kWidth);
    __builtin_prefetch(next + k, 0, 2);
#pragma GCC unroll 4
    for (int c = 0; c < kBackColumns; ++c) {
      const Vector b = At(ws[c] + k);
#pragma GCC unroll 4
      for (int r = 0; r < kBackRows; ++r) sum[r * kBackColumns + c] += a[r] * b;
    }
  }
  Vector s;
  SumLanes(sum, s);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      float value = s[r * kBackColumns + c];
      if (bias != nullptr) value += bias[c];
      y[r * p.columns + c] = p.relu && value < 0 ? 0 : value;
    }
  }
}

void Backward(const PlainProduct& p, const float* x, const float* w, const float* bias, float* y, float* scratch) {
  // Rows often lie a multiple of 4 KiB apart, so that more than 8 of them do not fit the first-level cache: vectors of
  // 4 rows take turns. Missing rows repeat the last.
  float* to = scratch;
  for (int64_t r = 0; r < p.rows; r += kBackRows) {
    for (int64_t k = 0; k < p.depth; k += kWidth) {
      for (int64_t i = r; i < r + kBackRows; ++i, to += kWidth) {
        At(to) = At(x + (i < p.rows ? i : p.rows - 1) * p.depth + k);
      }
    }
  }
  for (int64_t c = 0; c < p.columns; c += kBackColumns) {
    const int64_t columns = p.columns - c < kBackColumns ? p.columns - c : kBackColumns;
    for (int64_t r = 0; r < p.rows; r += kBackRows) {
      const int64_t rows = p.rows - r < kBackRows ? p.rows - r : kBackRows;
      // While the first tiles are computed, rows of the matrix for the tiles after the next ones come into the cache.
      const int64_t ahead = c + 2 * kBackColumns + r / kBackRows % kBackColumns;
      BackwardTile(p, scratch + r * p.depth, rows, w + c * p.depth, columns, w + ahead * p.depth,
                   bias != nullptr ? bias + c : nullptr, y + r * p.columns + c);
    }
  }
}

}  // namespace
}  // namespace tandem

#pragma GCC pop_options

namespace tandem {

bool PlainProductPays(const PlainProduct& product) {
  constexpr int64_t kMinElements = 1 << 18, kMinRows = 4, kMaxRows = 64, kMinTransposedDepth = 512;
  if (product.depth * product.columns < kMinElements || product.rows < kMinRows || product.rows > kMaxRows)
    return false;
  const bool shape = product.transposed ? product.depth % kWidth == 0 && product.depth >= kMinTransposedDepth
                                        : product.columns % kWidth == 0;
  return shape && __builtin_cpu_supports("avx512f");
}

int64_t PlainProductScratch(const PlainProduct& product) {
  if (!product.transposed) return product.rows * product.columns;
  return (product.rows + kBackRows - 1) / kBackRows * kBackRows * product.depth;
}

void RunPlainProduct(const PlainProduct& product, const float* x, const float* w, const float* bias, float* y,
                     float* scratch) {
  (product.transposed ? Backward : Forward)(product, x, w, bias, y, scratch);
}

}  // namespace tandem
