// Emits the products of Winograd convolutions: one matrix product for each point, tiled for registers.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_

#include "passes/codegen/vector_builder.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

enum class TileElements {
  kFloat32,        // float32 numbers, [points][rows][channels padded]
  kBFloat16,       // bfloat16 numbers, [points][rows][channels padded]
  kBFloat16Pairs,  // pairs of bfloat16 numbers for sums over tiles: [points][rows / 2][channels padded][2]
};

// Transformed tiles in memory.
struct TileMatrix {
  mlir::Value pointer;
  int64_t rows = 0;      // rows per point: the tiles of a block and unused ones (slack) behind them; an even number
  int64_t channels = 0;  // number of channels before padding
  TileElements elements = TileElements::kFloat32;

  int64_t point_floats() const { return PointFloats(rows, channels, elements != TileElements::kFloat32); }
};

// Emits to[point][t][k] = sum over c of from[point][t][c] * kernel[point][c][k] for tiles t < tiles; `kernel` is laid
// out as winograd_shape.h says, in bfloat16 if `from` is. `to` is float32. Each sum goes over c in order, whatever the
// other tiles are. Unused rows behind the block's tiles (slack) may be written. `block_tiles`: the usual value of
// `tiles`.
void EmitTileProducts(VectorBuilder& v, int64_t points, mlir::Value tiles, int64_t block_tiles, const TileMatrix& from,
                      mlir::Value kernel, const TileMatrix& to);

// Emits sum[point][c][k] += sum over tiles t of x[point][t][c] * y[point][t][k], in the order of tiles. `sum` is
// [points][channels of x][channels of y padded]; without `adds` it is taken for zeros and not read. x and y are both
// float32 or both kBFloat16Pairs.
void EmitTileOuterProducts(VectorBuilder& v, int64_t points, mlir::Value tiles, const TileMatrix& x,
                           const TileMatrix& y, mlir::Value sum, mlir::Value adds);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_
