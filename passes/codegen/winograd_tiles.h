// Tiles between images and transformed tiles: the first and the last stage of Winograd convolutions.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_

#include "passes/codegen/winograd_products.h"
#include "passes/exec/toom_cook.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

// Rows of images [row][height][width][channels] in memory. Tile (i, j) begins at pixel (i * tile - top, j * tile -
// left), which may lie outside.
struct ImageMatrix {
  mlir::Value pointer;
  int64_t height = 0, width = 0, channels = 0;
  int64_t top = 0, left = 0;
  bool bfloat16 = false;
};

// A block of tiles: those from `first` on, counted through all images.
struct TileBlock {
  const WinogradShape* shape;
  mlir::Value first, count;
};

// to[.][t] = matrix * patch * matrix^T for the patches of the block's tiles; pixels outside of the image are 0.
void EmitGatherTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const ImageMatrix& image,
                     const TileMatrix& to);

// What is done to the pixels of a convolution; `bias` and the residual's pointer may be null.
struct TileEpilogue {
  mlir::Value bias;
  bool bfloat16_bias = false;
  ImageMatrix residual;
  bool relu = false;
};

// image = matrix * tile * matrix^T, with the epilogue, where tiles lie in the image; they do not overlap.
void EmitStoreTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                    const TileEpilogue& epilogue, const ImageMatrix& image);

// image += matrix * tile * matrix^T for tiles that overlap, in their order. Pixels are set to zero when the first tile
// that reaches them comes, so that the image may hold anything before. In bfloat16 they are rounded once: they add up
// in `rows`, floats [size of a tile][width][channels], and are stored when the last tile of a row of tiles is done.
void EmitAddTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                  mlir::Value rows, const ImageMatrix& image);

// Calls body(first channel, live) for vectors of channels; `live` is how many of their elements are channels.
void ForChannels(VectorBuilder& v, int64_t channels, const std::function<void(mlir::Value, int64_t)>& body);

// Sets `floats` floats, a multiple of `multiple`, to zero.
void EmitZeros(VectorBuilder& v, mlir::Value pointer, mlir::Value floats, int64_t multiple);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_TILES_H_
