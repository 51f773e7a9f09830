// Emits products of matrices in tiles of the result that stay in registers.
#ifndef TANDEM_PASSES_CODEGEN_PRODUCT_TILE_H_
#define TANDEM_PASSES_CODEGEN_PRODUCT_TILE_H_

#include <algorithm>
#include <cstdint>

#include "passes/codegen/vector_builder.h"

namespace tandem {

inline constexpr int64_t kLineFloats = 16;

// The accumulators of a tile: `rows` x `vectors` registers. Besides these, a product needs registers for one row of the
// right-hand side and for one factor. AVX-512 has 32 registers, other targets have 16.
struct ProductTile {
  int rows, vectors;
};
ProductTile LargestTile(int vector_width, int64_t vectors);

// Returns the rows of a tile for a block of `block` rows: `most`, the number for which there are registers, or fewer
// (at least half) if whole tiles then compute fewer rows in all. Example: 4 for 8 rows if `most` is 6.
int TileRowsFor(int most, int64_t block);

// Calls f(first vector, vectors) for `vectors` vectors in groups of at most `most`.
template <typename F>
void ForVectorGroups(int64_t vectors, int64_t most, F f) {
  for (int64_t first = 0; first < vectors; first += most) f(first, std::min(most, vectors - first));
}

// The factors of a product in memory. Element (r, i) of the left one is `row` * r + `step` * i floats behind its
// pointer; row i of the right one begins `step` * i floats behind its pointer.
struct LeftFactor {
  mlir::Value pointer;
  int64_t row, step;
};
struct RightFactor {
  mlir::Value pointer;
  int64_t step;
};

// Memory to prefetch while a product is computed: `lines` cache lines in each of its steps.
struct LinesToFetch {
  mlir::Value pointer;
  int64_t lines = 0;
};

// Returns the sums of a tile: `sums` plus the sum over i < depth of left(r, i) * right(i, .. + vectors). With `pairs`
// an element is two bfloat16 numbers, which are as long as a float.
VectorBuilder::Values MultiplyAdd(VectorBuilder& v, bool pairs, mlir::Value depth, int rows, int64_t vectors,
                                  const LeftFactor& left, const RightFactor& right, const VectorBuilder::Values& sums,
                                  const LinesToFetch& fetch = {});

// The result of a product: rows of `width` floats, `row` floats apart.
struct ProductResult {
  mlir::Value pointer;
  int64_t row, width;
};

// Emits result = left * right, or result += left * right with `adds`, for `rows` rows, which are at most `most_rows`.
// Whole tiles are computed: where `rows` is not a multiple of a tile's height, the rows behind it that fill the last
// tile are read and written too. There are none if `most_rows` is 64 and `rows` is a multiple of 16.
void EmitProduct(VectorBuilder& v, mlir::Value rows, int64_t most_rows, mlir::Value depth, const LeftFactor& left,
                 const RightFactor& right, const ProductResult& result, bool adds);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_PRODUCT_TILE_H_
