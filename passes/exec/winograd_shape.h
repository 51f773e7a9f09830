// The sizes of a Winograd convolution and the layouts of its intermediate values. Free of MLIR types.
#ifndef TANDEM_PASSES_EXEC_WINOGRAD_SHAPE_H_
#define TANDEM_PASSES_EXEC_WINOGRAD_SHAPE_H_

#include <cstdint>

namespace tandem {

// A 3x3 convolution with stride 1 of x [height, width, channels_in] to y [out_height, out_width, channels_out], and how
// it is cut: y into tiles of tile x tile pixels (the last ones reach over the border), tiles into blocks that are
// transformed, multiplied and transformed back one after another, so that they stay in a cache.
struct WinogradShape {
  int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t channels_in = 0, channels_out = 0;
  int64_t pad_top = 0, pad_left = 0;  // zeros before the first row and column
  int64_t tile = 0;                   // side of a tile of y in pixels: 2, 3 or 4
  int64_t block = 0;                  // tiles of one block
  bool bfloat16_products = false;     // transformed tiles and kernels are rounded to bfloat16; sums stay float32
  bool bfloat16_dx = false;  // the input gradient is bfloat16; its tiles overlap, so they are added up in float32 first

  int64_t alpha() const { return tile + 2; }
  int64_t points() const { return alpha() * alpha(); }  // multiplications per tile and pair of channels
  int64_t tiles_down() const { return (out_height + tile - 1) / tile; }
  int64_t tiles_across() const { return (out_width + tile - 1) / tile; }
  int64_t tiles() const { return tiles_down() * tiles_across(); }  // tiles of one image
};

// The channels of intermediate values are padded to a multiple of this number of floats, a cache line.
inline constexpr int64_t kWinogradPadding = 16;
// Number of columns of a transformed kernel that are stored together.
inline constexpr int64_t kWinogradColumns = 64;
// Number of rows behind the last tile of a block that products may read and write.
inline constexpr int64_t kWinogradSlack = 16;

inline int64_t PadChannels(int64_t n) { return (n + kWinogradPadding - 1) / kWinogradPadding * kWinogradPadding; }

// Returns the rows of a transformed kernel. In bfloat16 their number is even, since products read pairs of numbers.
inline int64_t PanelRows(int64_t rows, bool bfloat16) { return bfloat16 ? (rows + 1) / 2 * 2 : rows; }

// A transformed kernel is [points][block of columns][row][column in block] with rows = channels summed over and columns
// = channels of the result, padded; in bfloat16 [points][block of columns][row / 2][column in block][row % 2]. Returns
// the offset of an element in its point's panel, in elements.
inline int64_t PanelOffset(int64_t rows, int64_t columns, int64_t row, int64_t column, bool bfloat16 = false) {
  int64_t first = column / kWinogradColumns * kWinogradColumns, left = PadChannels(columns) - first;
  int64_t width = left < kWinogradColumns ? left : kWinogradColumns;
  if (!bfloat16) return first * rows + row * width + (column - first);
  return first * PanelRows(rows, true) + row / 2 * 2 * width + (column - first) * 2 + row % 2;
}

// Offsets in floats into the scratch memory of a kernel. Tiles of images are [points][block + slack][channels padded],
// in bfloat16 for a filter gradient [points][(block + slack) / 2][channels padded][2], with points PointFloats apart.
struct WinogradScratch {
  int64_t x = 0;       // offset of the transformed tiles of x; in the input gradient, of the products that become dx
  int64_t y = 0;       // offset of the transformed tiles of y or dy
  int64_t kernel = 0;  // filter gradient only: offset of the sum over tiles [points][channels_in][channels_out padded]
  // For bfloat16_dx only: offset of the sums of pixels under a row of tiles [tile + 2][width][channels_in].
  int64_t rows = 0;
  int64_t floats = 0;  // size of the scratch memory in floats
};

// Returns the rows per point in the memory of tiles: the tiles of a block and the slack; an even number, for pairs of
// bfloat16 numbers.
inline int64_t TileRows(const WinogradShape& s) { return (s.block + kWinogradSlack + 1) / 2 * 2; }

// Floats from one point of `rows` tiles, an even number, to the next: an odd number of cache lines. A transform writes
// or reads one vector of every point, and lines a multiple of 4 KiB apart share a set of the first-level cache.
inline int64_t PointFloats(int64_t rows, int64_t channels, bool bfloat16) {
  const int64_t floats = rows * PadChannels(channels) / (bfloat16 ? 2 : 1);
  return (floats / kWinogradPadding | 1) * kWinogradPadding;
}

inline WinogradScratch ScratchOf(const WinogradShape& s, bool filter_grad) {
  // In forward convolutions and input gradients one of x and y is float32, and both get as much memory as float32
  // needs.
  const bool narrow = filter_grad && s.bfloat16_products;
  WinogradScratch scratch;
  scratch.y = scratch.x + s.points() * PointFloats(TileRows(s), s.channels_in, narrow);
  scratch.kernel = scratch.y + s.points() * PointFloats(TileRows(s), s.channels_out, narrow);
  scratch.rows = scratch.kernel + (filter_grad ? s.points() * s.channels_in * PadChannels(s.channels_out) : 0);
  scratch.floats = scratch.rows + (s.bfloat16_dx ? s.alpha() * s.width * s.channels_in : 0);
  return scratch;
}

}  // namespace tandem

#endif  // TANDEM_PASSES_EXEC_WINOGRAD_SHAPE_H_
