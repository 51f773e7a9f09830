#include "runtime/cpu/kernels/unpacked_gemm.h"

#include "runtime/cpu/kernels/instruction_set.h"

// Everything below is for CPUs with AVX-512.
#pragma GCC push_options
#pragma GCC target("avx512f")

namespace tandem {
namespace {

using Vector = float __attribute__((vector_size(64)));
using UnalignedVector = float __attribute__((vector_size(64), aligned(4)));
using Indices = int32_t __attribute__((vector_size(64)));

constexpr int64_t kWidth = 16;  // floats of a vector register
// Elements of a block. A block is the rows of the matrix that all tiles read before the rows of the next block, which
// are prefetched into the second-level cache meanwhile. The longer they are there, the more of them are evicted before
// they are read.
constexpr int64_t kBlockElements = 1 << 15;
constexpr int64_t kMinBlockRows = 16, kMaxBlockRows = 64;
constexpr int64_t kVectors = 3;  // vectors in a row of a forward tile
constexpr int64_t kBackRows = 4;
constexpr int64_t kBackAhead = 4;  // vectors of each row of x that are fetched ahead of their use

#define TD_INLINE inline __attribute__((always_inline))

TD_INLINE const UnalignedVector& At(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
TD_INLINE UnalignedVector& At(float* p) { return *reinterpret_cast<UnalignedVector*>(p); }

// Cache lines that are prefetched into the second-level cache while tiles are computed. The prefetches are spread over
// all tiles: a core can wait for only few lines at a time, and loads that hit caches are delayed by them.
struct Fetch {
  const float* next;
  int64_t lines;  // number of lines that one tile prefetches
};

int64_t Share(int64_t floats, int64_t tiles) { return (floats / kWidth + tiles - 1) / tiles; }

// One block: rows [begin, end) of the matrix.
struct Block {
  int64_t begin, end;
  const float* x;  // x at the column of the block's first row
  // Copies of operands that more than one tile reads: columns of x in the order of PackRows, and columns of the matrix
  // side by side.
  const float* packed;
  float* panel;
  Fetch fetch;  // prefetches the rows behind the block
};

enum class Operands { kPlain, kPacked, kPackedByThis };

// Computes kRows rows x kVectors vectors of the result. The sums stay in registers while the block's rows of `w` are
// read, and in `sums` until the next block. In `sums` they are contiguous; in the result, whose rows may be 4 KiB
// apart, they would all need the same set of the first-level cache. `row` is the tile's first row, `w` the panel or the
// matrix at the tile's first column, and `bias` and `y` are those of the tile.
template <int kRows, int kVectors, Operands kOperands>
TD_INLINE void ForwardTile(const UnpackedGemm& p, Block& block, int64_t row, const float* w, const float* bias,
                           float* y, float* sums) {
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = block.begin == 0 ? Vector{} : At(sums + (r * kVectors + v) * kWidth);
  }
  const int64_t depth = block.end - block.begin, lines = block.fetch.lines;
  const bool packed = kOperands != Operands::kPlain;
  const float* x = packed ? block.packed + row * depth : block.x + row * p.depth;
  const int64_t stride = kOperands == Operands::kPacked ? kVectors * kWidth : p.columns;
  const float* next = block.fetch.next;
  float* panel = block.panel;
  for (int64_t k = 0; k < depth; ++k, w += stride) {
    Vector b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      b[v] = At(w + v * kWidth);
      if (kOperands == Operands::kPackedByThis) At(panel + v * kWidth) = b[v];
    }
    if (kOperands == Operands::kPackedByThis) panel += kVectors * kWidth;
    // Prefetches a line of the next rows, because they lie in pages of their own, which the core's prefetchers do not
    // follow. Prefetching beyond the end of the matrix is harmless.
    if (k < lines) {
      __builtin_prefetch(next, 0, 2);
      next += kWidth;
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float f = packed ? x[k * kRows + r] : x[r * p.depth + k];
      const Vector a = {f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += a * b[v];
    }
  }
  block.fetch.next = next;
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

template <int kVectors, Operands kOperands>
TD_INLINE void ForwardTiles(const UnpackedGemm& p, Block& block, int64_t r, const float* w, const float* bias, float* y,
                            float* sums) {
  auto sums_of = [&](int64_t row) { return sums + row * kVectors * kWidth; };
  for (; r + 8 <= p.rows; r += 8)
    ForwardTile<8, kVectors, kOperands>(p, block, r, w, bias, y + r * p.columns, sums_of(r));
  for (; r + 4 <= p.rows; r += 4)
    ForwardTile<4, kVectors, kOperands>(p, block, r, w, bias, y + r * p.columns, sums_of(r));
  for (; r < p.rows; ++r) ForwardTile<1, kVectors, kOperands>(p, block, r, w, bias, y + r * p.columns, sums_of(r));
}

template <int kVectors>
void ForwardColumns(const UnpackedGemm& p, Block& block, const float* w, const float* bias, float* y, float* sums) {
  if (block.panel == nullptr) return ForwardTiles<kVectors, Operands::kPlain>(p, block, 0, w, bias, y, sums);
  ForwardTile<8, kVectors, Operands::kPackedByThis>(p, block, 0, w, bias, y, sums);
  ForwardTiles<kVectors, Operands::kPacked>(p, block, 8, block.panel, bias, y, sums);
}

// Returns the number of rows of a tile that begins at row `r`.
int64_t TileRows(const UnpackedGemm& p, int64_t r) { return p.rows - r >= 8 ? 8 : p.rows - r >= 4 ? 4 : 1; }

// Copies columns [begin, end) of x in the order in which tiles read them: by tiles, and in a tile one column after the
// other.
void PackRows(const UnpackedGemm& p, const float* x, int64_t begin, int64_t end, float* to) {
  for (int64_t r = 0, rows; r < p.rows; r += rows) {
    rows = TileRows(p, r);
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t i = r; i < r + rows; ++i) *to++ = x[i * p.depth + k];
    }
  }
}

int64_t BlockRows(const UnpackedGemm& p) {
  const int64_t fit = kBlockElements / p.columns;
  return fit < kMinBlockRows ? kMinBlockRows : fit > kMaxBlockRows ? kMaxBlockRows : fit;
}

void Forward(const UnpackedGemm& p, const float* x, const float* w, const float* bias, float* y, float* scratch) {
  const int64_t step = BlockRows(p), panels = (p.columns / kWidth + kVectors - 1) / kVectors;
  float* rows = scratch + p.rows * p.columns;
  float* panel = p.rows > 8 ? rows + p.rows * step : nullptr;
  int64_t tiles = 0;
  for (int64_t r = 0; r < p.rows; r += TileRows(p, r)) ++tiles;
  for (int64_t k = 0; k < p.depth; k += step) {
    const int64_t end = k + step < p.depth ? k + step : p.depth;
    if (panel != nullptr) PackRows(p, x, k, end, rows);
    Block block = {k, end, x + k, rows, panel, {w + end * p.columns, Share(step * p.columns, panels * tiles)}};
    int64_t vectors;
    for (int64_t c = 0; c < p.columns; c += vectors * kWidth) {
      // In a tile of one vector, multiply-adds would wait for each other's sums, so the last four vectors become two
      // tiles of two.
      const int64_t left = (p.columns - c) / kWidth;
      vectors = left == 4 ? 2 : left < 3 ? left : 3;
      auto columns = vectors == 3 ? ForwardColumns<3> : vectors == 2 ? ForwardColumns<2> : ForwardColumns<1>;
      columns(p, block, w + k * p.columns + c, bias != nullptr ? bias + c : nullptr, y + c, scratch + c * p.rows);
    }
  }
}

// Adds neighbours that are S lanes apart: the sums of `a` go into lanes whose number lacks bit S, those of `b` into the
// others.
template <int S>
TD_INLINE void Fold(const Vector& a, const Vector& b, Vector& to) {
  Indices own, other;
  for (int i = 0; i < kWidth; ++i) {
    own[i] = (i & S) != 0 ? static_cast<int>(kWidth) + i : i;
    other[i] = (i & S) != 0 ? static_cast<int>(kWidth) + i - S : i + S;
  }
  to = __builtin_shuffle(a, b, own) + __builtin_shuffle(a, b, other);
}

// Sums the lanes of each vector. With kCount = 16, lane i of the result is the sum of all lanes of s[i]. With 8, lanes
// i and i + 8 both are that sum.
template <int kCount>
TD_INLINE void SumLanes(const Vector* s, Vector& to) {
  Vector pairs[8], fours[4], eights[2];
#pragma GCC unroll 8
  for (int i = 0; i < kCount / 2; ++i) Fold<1>(s[2 * i], s[2 * i + 1], pairs[i]);
#pragma GCC unroll 4
  for (int i = 0; i < kCount / 4; ++i) Fold<2>(pairs[2 * i], pairs[2 * i + 1], fours[i]);
#pragma GCC unroll 2
  for (int i = 0; i < kCount / 8; ++i) Fold<4>(fours[2 * i], fours[2 * i + 1], eights[i]);
  Fold<8>(eights[0], eights[kCount / 16], to);
}

// Computes the products of 4 rows of x with 4 or 6 rows of w. In `x`, the vectors of the 4 rows are interleaved. Only
// the first `rows` and `columns` of the results are stored.
template <int kColumns>
TD_INLINE void BackwardTile(const UnpackedGemm& p, const float* x, int64_t rows, const float* w, int64_t columns,
                            const Fetch& fetch, const float* bias, float* y) {
  const float* ws[kColumns];
  for (int64_t i = 0; i < kColumns; ++i) ws[i] = w + (i < columns ? i : columns - 1) * p.depth;
  // The sums of the first four columns of each row come first, then those of the other two.
  Vector sum[kBackRows * kColumns] = {};
  const float* next = fetch.next;
  for (int64_t k = 0, line = 0; k < p.depth; k += kWidth, ++line, x += kBackRows * kWidth) {
    Vector a[kBackRows];
#pragma GCC unroll 4
    for (int r = 0; r < kBackRows; ++r) {
      a[r] = At(x + r * kWidth);
      if (kColumns > 4) __builtin_prefetch(x + (kBackAhead * kBackRows + r) * kWidth, 0, 3);
    }
    if (line < fetch.lines) {
      __builtin_prefetch(next, 0, 2);
      next += kWidth;
    }
#pragma GCC unroll 6
    for (int c = 0; c < kColumns; ++c) {
      const Vector b = At(ws[c] + k);
#pragma GCC unroll 4
      for (int r = 0; r < kBackRows; ++r) sum[c < 4 ? r * 4 + c : 16 + r * 2 + c - 4] += a[r] * b;
    }
  }
  Vector s[2];
  SumLanes<16>(sum, s[0]);
  if (kColumns > 4) SumLanes<8>(sum + 16, s[1]);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      float value = c < 4 ? s[0][r * 4 + c] : s[1][r * 2 + c - 4];
      if (bias != nullptr) value += bias[c];
      y[r * p.columns + c] = p.relu && value < 0 ? 0 : value;
    }
  }
}

template <int kColumns>
void BackwardColumns(const UnpackedGemm& p, const float* x, const float* w, const float* bias, float* y) {
  const int64_t lines = Share(kColumns * p.depth, (p.rows + kBackRows - 1) / kBackRows);
  for (int64_t c = 0; c < p.columns; c += kColumns) {
    const int64_t columns = p.columns - c < kColumns ? p.columns - c : kColumns;
    // While a group of columns is computed, the rows of the matrix that the group after the next one needs are
    // prefetched.
    const float* next = w + (c + 2 * kColumns) * p.depth;
    for (int64_t r = 0; r < p.rows; r += kBackRows, next += lines * kWidth) {
      const int64_t rows = p.rows - r < kBackRows ? p.rows - r : kBackRows;
      BackwardTile<kColumns>(p, x + r * p.depth, rows, w + c * p.depth, columns, {next, lines},
                             bias != nullptr ? bias + c : nullptr, y + r * p.columns + c);
    }
  }
}

void Backward(const UnpackedGemm& p, const float* x, const float* w, const float* bias, float* y, float* scratch) {
  // Copies x so that the vectors of 4 rows are interleaved. Rows of x are often a multiple of 4 KiB apart, so that more
  // than 8 of them do not fit into the first-level cache. The last row stands in for missing rows.
  float* to = scratch;
  for (int64_t r = 0; r < p.rows; r += kBackRows) {
    for (int64_t k = 0; k < p.depth; k += kWidth) {
      for (int64_t i = r; i < r + kBackRows; ++i, to += kWidth) {
        At(to) = At(x + (i < p.rows ? i : p.rows - 1) * p.depth + k);
      }
    }
  }
  // With few rows of x there are few tiles, and they could not prefetch all lines of six rows of the matrix.
  (p.rows > 5 * kBackRows ? BackwardColumns<6> : BackwardColumns<4>)(p, scratch, w, bias, y);
}

}  // namespace
}  // namespace tandem

#pragma GCC pop_options

namespace tandem {

int64_t UnpackedGemmScratch(const UnpackedGemm& product) {
  if (!product.transposed)
    return product.rows * (product.columns + BlockRows(product)) + BlockRows(product) * kVectors * kWidth;
  return (product.rows + kBackRows - 1) / kBackRows * kBackRows * product.depth;
}

void RunUnpackedGemm(const UnpackedGemm& product, const float* x, const float* w, const float* bias, float* y,
                     float* scratch) {
  (product.transposed ? Backward : Forward)(product, x, w, bias, y, scratch);
}

}  // namespace tandem
