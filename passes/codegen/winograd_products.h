// The products of Winograd convolutions: one matrix product for each point, tiled for registers.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_

#include "passes/codegen/vector_builder.h"

namespace tandem {

// Transformed tiles in memory: [points][rows][channels padded], `rows` with the slack behind a block.
struct TileMatrix {
  mlir::Value pointer;
  int64_t rows = 0;
  int64_t channels = 0;  // before padding
};

// to[point][t][k] = sum over c of from[point][t][c] * kernel[point][c][k] for tiles t < tiles; `kernel` is laid out as
// winograd_shape.h says. Each sum goes over c in order, whatever the other tiles are. Rows of the slack may be written.
void EmitTileProducts(VectorBuilder& v, int64_t points, mlir::Value tiles, const TileMatrix& from, mlir::Value kernel,
                      const TileMatrix& to);

// sum[point][c][k] += sum over tiles t of x[point][t][c] * y[point][t][k], in the order of tiles; `sum` is
// [points][channels of x][channels of y padded].
void EmitTileOuterProducts(VectorBuilder& v, int64_t points, mlir::Value tiles, const TileMatrix& x,
                           const TileMatrix& y, mlir::Value sum);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_PRODUCTS_H_
