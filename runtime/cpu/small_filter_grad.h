// Filter gradients of convolutions over a few small images.
//
// oneDNN's go along rows of pixels, which are short here, into a layout of their own that has to be reordered: S0's
// third convolution (5x5x64 to 3x3x64, 8 images) reaches half of a matrix product's rate. These are products
// [taps x channels in, pixels] x [pixels, channels out] over the pixels of all images, whose addresses are listed once,
// and write the gradient as it is stored.
#ifndef TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_H_
#define TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_H_

#include <cstdint>
#include <vector>

namespace tandem {

// x [images, height, width, in] and dy [images, out_height, out_width, out], dense and float32.
struct SmallConvolution {
  int64_t images = 0;
  int64_t height = 0, width = 0, in = 0;
  int64_t out_height = 0, out_width = 0, out = 0;
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, pad_low[2] = {0, 0};
};

class SmallFilterGrad {
 public:
  // Whether Run takes the convolution and is faster than oneDNN: images of few pixels, whole tiles of channels, a
  // gradient that stays in the second-level cache, and AVX-512, whose registers the tiles fill. On an Intel Xeon with
  // 165 GFLOP/s in products: S0's third convolution on 8 images 160 instead of 100 GFLOP/s, its second 160, as oneDNN's
  // without the reorder.
  static bool Pays(const SmallConvolution& convolution);

  // Only for convolutions that pay; a test may try others with a multiple of 64 channels out.
  explicit SmallFilterGrad(const SmallConvolution& convolution);

  // dw [kernel height, kernel width, in, out]. An element is one chain of multiply-adds over the pixels in order.
  void Run(const float* x, const float* dy, float* dw) const;

 private:
  // Where the channels of a pixel of dy and of the pixel of x that a tap takes to it begin, in floats.
  struct Pair {
    int64_t x, dy;
  };

  // Adds the pairs [begin, end) of a tap.
  void RunTap(int64_t tap, int64_t begin, int64_t end, const float* x, const float* dy, float* dw) const;

  const SmallConvolution convolution_;
  std::vector<Pair> pairs_;      // of all taps, one after the other
  std::vector<int64_t> begins_;  // of each tap, and the end
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_H_
