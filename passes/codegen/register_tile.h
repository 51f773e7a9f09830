// Emits sums of outer products that stay in registers: the inner loop of weight gradients.
#ifndef TANDEM_PASSES_CODEGEN_REGISTER_TILE_H_
#define TANDEM_PASSES_CODEGEN_REGISTER_TILE_H_

#include <cstdint>

#include "passes/codegen/vector_builder.h"

namespace tandem {

// The size of a tile: rows of the result x vectors of a row. It has few vectors, because the columns of the right-hand
// side that a tile reads must stay in the first-level cache until the tiles below read them. 8 x 2 hides the latency of
// the multiply-adds.
inline constexpr int64_t kRegisterTileVectors = 2;
constexpr int64_t RegisterTileRows(int vector_width) { return vector_width < 16 ? 4 : 8; }

// Returns how many vectors hold a row of `width` floats.
inline int64_t TileVectors(const VectorBuilder& v, int64_t width) { return (width + v.width() - 1) / v.width(); }

// Loads the row of `width` numbers at `from`.
VectorBuilder::Values LoadTileRow(VectorBuilder& v, StoredFloats from, int64_t width);

// Returns sums + left (x) right, an outer product: the `rows` numbers at `left` times the vectors of a row. sums[r *
// vectors + n] is vector n of row r.
VectorBuilder::Values AddOuterProduct(VectorBuilder& v, const VectorBuilder::Values& sums, int64_t rows,
                                      mlir::Value left, const VectorBuilder::Values& right);

// Stores a tile as rows of `width` floats, `stride` floats apart.
void StoreTile(VectorBuilder& v, const VectorBuilder::Values& sums, int64_t rows, mlir::Value pointer, int64_t stride,
               int64_t width);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_REGISTER_TILE_H_
