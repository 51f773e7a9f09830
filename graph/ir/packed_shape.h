// Sizes of a filter gradient by tiles of bfloat16 numbers (AMX) and the layouts of its packed operands. Free of MLIR
// types.
#ifndef TANDEM_GRAPH_IR_PACKED_SHAPE_H_
#define TANDEM_GRAPH_IR_PACKED_SHAPE_H_

#include <algorithm>
#include <cstdint>

namespace tandem {

// A tile register has 16 rows of 64 bytes: 32 bfloat16 numbers or 16 floats.
inline constexpr int64_t kTileRows = 16, kTilePixels = 32;

// A convolution of x [height, width, channels_in] to y [out_height, out_width, channels_out].
//
// The gradient of its kernel is, for each tap, a product of x's channels times pixels and dy's pixels times channels.
// Pixels lie one after another in rows of `pitch`, with zeros behind dy's, so that another tap is the same memory of x
// a few pixels on. With a stride there is one such plane of x for every place in a stride (x's pixels 0, 2, 4 ..., and
// 1, 3, 5 ... of rows 0, 2, 4 ...).
struct PackedShape {
  int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t channels_in = 0, channels_out = 0;
  int64_t kernel[2] = {0, 0}, stride[2] = {1, 1}, pad_low[2] = {0, 0};

  int64_t planes(int d) const { return std::min(stride[d], kernel[d]); }
  int64_t reach(int d) const { return (kernel[d] - 1) / stride[d]; }  // of the last tap, in a plane
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t pitch() const { return Up(out_width + reach(1), 2); }
  int64_t plane_rows() const { return out_height + reach(0); }
  // Of an image of dy, with what is zero.
  int64_t pixels() const { return Up(out_height * pitch(), kTilePixels); }
  // Of a channel in a plane of x: an odd number of cache lines, so that channels do not meet in the same places of a
  // cache.
  int64_t plane_pixels() const {
    const int64_t lines = Up(pixels() + reach(0) * pitch() + reach(1), kTilePixels) / kTilePixels;
    return (lines + 1 - lines % 2) * kTilePixels;
  }
  // Images that are packed and multiplied together: sums are read and written once for some hundred pixels.
  int64_t images() const { return std::clamp<int64_t>(256 / pixels(), 1, 8); }

  static int64_t Up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }
};

// Offsets in floats into the scratch memory of a kernel. Pairs are two neighbouring pixels of a channel, as long as a
// float.
struct PackedScratch {
  int64_t staged = 0;  // a plane of 16 channels of x: [plane][pairs][16]
  int64_t x = 0;       // [image][plane][channel][pixels of a plane], bfloat16
  int64_t dy = 0;      // [image][channels / 16][pairs][16]
  int64_t floats = 0;  // in all

  explicit PackedScratch(const PackedShape& s) {
    const int64_t planes = s.planes(0) * s.planes(1), pairs = s.plane_pixels() / 2;
    x = staged + planes * pairs * kTileRows;
    dy = x + s.images() * planes * s.channels_in * pairs;
    floats = dy + s.images() * s.channels_out * s.pixels() / 2;
  }
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_IR_PACKED_SHAPE_H_
