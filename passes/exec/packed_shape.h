// Sizes of a filter gradient by tiles of bfloat16 numbers (AMX) and the layouts of its packed operands. Free of MLIR
// types.
#ifndef TANDEM_PASSES_EXEC_PACKED_SHAPE_H_
#define TANDEM_PASSES_EXEC_PACKED_SHAPE_H_

#include <algorithm>
#include <cstdint>

namespace tandem {

// A tile register has 16 rows of 64 bytes: 32 bfloat16 numbers or 16 floats.
inline constexpr int64_t kTileRows = 16, kTilePixels = 32;

// A convolution of x [height, width, channels_in] to y [out_height, out_width, channels_out], and how tiles compute the
// gradient of its kernel.
//
// For each tap the gradient is a product of x (channels times pixels) and dy (pixels times channels). The pixels of a
// group of images are stored one after another in rows of `pitch` pixels, which zeros fill up, so that the pixels for
// another tap are the same memory of x, or of dy, shifted by some pixels. Zeros at the border of x serve two
// neighbouring rows, or two images. With a stride, x is stored as several planes, one for each place in a stride (x's
// pixels 0, 2, 4 ..., and 1, 3, 5 ... of rows 0, 2, 4 ..., and so on).
//
// Registers are loaded from whole cache lines, since loads that cross two lines take nearly twice as long. So it is dy
// that is shifted, by pairs of pixels: there is one copy of dy whose pairs begin at even pixels, and one whose pairs
// begin at odd pixels.
struct PackedShape {
  int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t channels_in = 0, channels_out = 0;
  int64_t kernel[2] = {0, 0}, stride[2] = {1, 1}, pad_low[2] = {0, 0};

  int64_t planes(int d) const { return std::min(stride[d], kernel[d]); }
  // Rows (d = 0) or columns (d = 1) from the first tap to the last one, counted in a plane of x, which has only the
  // pixels at one place in a stride.
  int64_t reach(int d) const { return (kernel[d] - 1) / stride[d]; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  // Rows (d = 0) or columns (d = 1) of a packed image: its own, and the zeros between it and the next image or row.
  int64_t period(int d) const {
    const int64_t all = out(d) + reach(d);
    int64_t shared = reach(d);
    for (int64_t place = 0; place < planes(d); ++place) shared = std::min({shared, from(d, place), all - to(d, place)});
    return all - shared;
  }
  int64_t pitch() const { return period(1); }
  int64_t image_pixels() const { return period(0) * period(1); }
  // Pixels from the first to the last one of an image of dy, in rows of `pitch` pixels.
  int64_t dy_pixels() const { return (out_height - 1) * pitch() + out_width; }
  int64_t last_tap() const { return reach(0) * pitch() + reach(1); }  // the most pixels by which dy is shifted
  // Number of copies of dy: one whose pairs begin at even pixels and, if a tap shifts dy, one whose pairs begin at odd
  // ones.
  int64_t copies() const { return last_tap() > 0 ? 2 : 1; }
  // In the plane of x that holds the rows or columns at `place` in every stride, those in [from, to) are in the image;
  // the others are padding.
  int64_t from(int d, int64_t place) const {
    return std::max<int64_t>(0, (pad_low[d] - place + stride[d] - 1) / stride[d]);
  }
  int64_t to(int d, int64_t place) const {
    const int64_t end = std::max<int64_t>(0, (d == 0 ? height : width) + pad_low[d] - place);
    return std::clamp((end + stride[d] - 1) / stride[d], from(d, place), std::max(from(d, place), out(d) + reach(d)));
  }
  // Number of images that are packed and multiplied together: as many as the second-level cache holds beside a part of
  // the sums.
  int64_t images() const {
    int64_t n = 8;
    while (n > 1 && 2 * n * image_pixels() * (planes(0) * planes(1) * channels_in + 4 * kTileRows) > kPackedBytes)
      n /= 2;
    return n;
  }
  // Pixels that a plane of x has for each channel: an odd number of cache lines, so that channels do not use the same
  // sets of a cache.
  int64_t plane_pixels() const {
    const int64_t lines = Up(images() * image_pixels() + last_tap(), kTilePixels) / kTilePixels;
    return (lines + 1 - lines % 2) * kTilePixels;
  }
  // Pixels of a packed copy of dy: those of the images, 32 zeros before them, and at least 64 behind them.
  int64_t panel_pixels() const { return Up(images() * image_pixels(), kTilePixels) + 3 * kTilePixels; }

  static int64_t Up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

 private:
  static constexpr int64_t kPackedBytes = 1 << 20;
  int64_t out(int d) const { return d == 0 ? out_height : out_width; }
};

// Offsets in floats into the scratch memory of a kernel. Pairs are two neighbouring pixels of a channel in bfloat16, as
// long as a float.
struct PackedScratch {
  int64_t pixels_x = 0;   // offset of the addresses of x's pixels in a group of images, or of zeros: [plane][pixel]
  int64_t pixels_dy = 0;  // offset of the addresses of dy's pixels in a group of images, or of zeros: [pixel]
  int64_t zeros = 0;      // offset of the zeros that padding is read from: as many as a pixel has channels
  int64_t x = 0;          // offset of the packed x, bfloat16 numbers: [plane][channel][pixel of the plane]
  int64_t dy = 0;         // offset of 32 packed channels of dy: [pairs from even, odd pixels][2][pair][16 channels]
  int64_t floats = 0;     // size of the scratch memory in floats

  explicit PackedScratch(const PackedShape& s) {
    const int64_t planes = s.planes(0) * s.planes(1);
    pixels_dy = pixels_x + 2 * planes * s.plane_pixels();
    zeros = pixels_dy + 2 * s.panel_pixels();
    x = zeros + PackedShape::Up(std::max(s.channels_in, s.channels_out) / 2, kTileRows);
    dy = x + planes * s.channels_in * s.plane_pixels() / 2;
    floats = dy + s.copies() * 2 * kTileRows * s.panel_pixels() / 2;
  }
};

}  // namespace tandem

#endif  // TANDEM_PASSES_EXEC_PACKED_SHAPE_H_
