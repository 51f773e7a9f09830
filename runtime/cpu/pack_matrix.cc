#include "runtime/cpu/pack_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/target_clones.h"

namespace tandem {
namespace {

using Vector = float __attribute__((vector_size(64)));
using UnalignedVector = float __attribute__((vector_size(64), aligned(4)));
using Indices = int32_t __attribute__((vector_size(64)));

// Exchanges the off-diagonal halves of all 2 S x 2 S squares; for S = 1, 2, 4, 8 in turn that is a transposition.
template <int S>
inline __attribute__((always_inline)) void ExchangeSquares(Vector (&r)[16]) {
  Indices upper, lower;
  for (int i = 0; i < 16; ++i) {
    upper[i] = (i & S) != 0 ? 16 + i - S : i;
    lower[i] = (i & S) != 0 ? 16 + i : i + S;
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if ((i & S) != 0) continue;
    const Vector x = r[i], y = r[i + S];
    r[i] = __builtin_shuffle(x, y, upper);
    r[i + S] = __builtin_shuffle(x, y, lower);
  }
}

inline __attribute__((always_inline)) void Transpose16(const float* from, int64_t from_stride, float* to,
                                                       int64_t to_stride) {
  Vector r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = *reinterpret_cast<const UnalignedVector*>(from + i * from_stride);
  ExchangeSquares<1>(r);
  ExchangeSquares<2>(r);
  ExchangeSquares<4>(r);
  ExchangeSquares<8>(r);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) *reinterpret_cast<UnalignedVector*>(to + i * to_stride) = r[i];
}

// Whole rows of 16 and one whole block of columns. Each group of 16 columns walks along its 16 rows in memory, which a
// core's prefetcher can follow.
TD_CLONES void PackTransposedBlock(const float* from, int64_t rows, int64_t stride, float* to) {
  for (int64_t column = 0; column < kPackedColumns; column += 16) {
    for (int64_t row = 0; row < rows; row += 16) {
      Transpose16(from + column * stride + row, stride, to + row * kPackedColumns + column, kPackedColumns);
    }
  }
}

TD_CLONES void PackBlock(const float* from, int64_t rows, int64_t stride, float* to) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < kPackedColumns; column += 16) {
      *reinterpret_cast<UnalignedVector*>(to + row * kPackedColumns + column) =
          *reinterpret_cast<const UnalignedVector*>(from + row * stride + column);
    }
  }
}

}  // namespace

void PackMatrix(const float* from, int64_t rows, int64_t columns, bool transposed, int64_t begin, int64_t end,
                float* to) {
  const int64_t padded_rows = (rows + kPackedRows - 1) / kPackedRows * kPackedRows;
  const int64_t row_stride = transposed ? 1 : columns, column_stride = transposed ? rows : 1;
  for (int64_t block = begin; block < end; ++block) {
    const float* source = from + block * kPackedColumns * column_stride;
    float* target = to + block * padded_rows * kPackedColumns;
    const int64_t live = std::min(kPackedColumns, columns - block * kPackedColumns);
    const int64_t whole = live < kPackedColumns ? 0 : transposed ? rows / kPackedRows * kPackedRows : rows;
    transposed ? PackTransposedBlock(source, whole, rows, target) : PackBlock(source, whole, columns, target);
    std::memset(target + whole * kPackedColumns, 0, (padded_rows - whole) * kPackedColumns * sizeof(float));
    for (int64_t row = whole; row < rows; ++row) {
      for (int64_t column = 0; column < live; ++column) {
        target[row * kPackedColumns + column] = source[row * row_stride + column * column_stride];
      }
    }
  }
}

}  // namespace tandem
