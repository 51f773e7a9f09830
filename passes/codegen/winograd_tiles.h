// Emits the first and the last stage of Winograd convolutions: from images to transformed tiles and back.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_

#include "passes/codegen/winograd_products.h"
#include "passes/exec/toom_cook.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

// Images [row][height][width][channels] in memory. Tile (i, j) begins at pixel (i * tile - top, j * tile - left), which
// may lie outside of the image.
struct ImageMatrix {
  mlir::Value pointer;
  int64_t height = 0, width = 0, channels = 0;
  int64_t top = 0, left = 0;
  bool bfloat16 = false;
};

// A block of `count` tiles from tile `first` on, counted through all images.
struct TileBlock {
  const WinogradShape* shape;
  mlir::Value first, count;
};

// Emits to[.][t] = matrix * patch * matrix^T for the patches of the block's tiles; pixels outside of the image are 0.
void EmitGatherTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const ImageMatrix& image,
                     const TileMatrix& to);

// The operations on pixels of a convolution before they are stored. `bias` and the residual's pointer may be null.
struct TileEpilogue {
  mlir::Value bias;
  bool bfloat16_bias = false;
  ImageMatrix residual;
  bool relu = false;
};

// Emits image = matrix * tile * matrix^T, with the epilogue, where tiles lie inside the image; tiles do not overlap.
void EmitStoreTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                    const TileEpilogue& epilogue, const ImageMatrix& image);

// Emits image += matrix * tile * matrix^T for tiles that overlap, in their order. Pixels are set to zero when the first
// tile reaches them, so the image may hold anything before. Pixels of bfloat16 images are rounded once: they add up in
// `rows`, floats [size of a tile][width][channels], and are stored when the last tile of a row of tiles is done.
void EmitAddTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                  mlir::Value rows, const ImageMatrix& image);

// Calls body(first channel, live) for all vectors of channels; `live` is the number of their elements that are
// channels.
void ForChannels(VectorBuilder& v, int64_t channels, const std::function<void(mlir::Value, int64_t)>& body);

// Sets `floats` floats, a multiple of `multiple`, to zero.
void EmitZeros(VectorBuilder& v, mlir::Value pointer, mlir::Value floats, int64_t multiple);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_
