// Filter gradients of convolutions as products over listed pixels.
//
// oneDNN's filter gradients go along rows of pixels, which are short in small images, and write a layout of their own
// that has to be reordered: the third convolution of scenario S0 (5x5x64 to 3x3x64, 8 images) reaches half of a matrix
// product's rate. The gradients here are products [taps x channels in, pixels] x [pixels, channels out] over the pixels
// of all images, whose addresses are listed once, and write the gradient in the layout in which it is stored.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_DIRECT_FILTER_GRAD_H_
#define TANDEM_RUNTIME_CPU_KERNELS_DIRECT_FILTER_GRAD_H_

#include <cstdint>
#include <vector>

namespace tandem {

// Sizes of x [images, height, width, in] and dy [images, out_height, out_width, out], which are dense and float32.
struct FilterGradShape {
  int64_t images = 0;
  int64_t height = 0, width = 0, in = 0;
  int64_t out_height = 0, out_width = 0, out = 0;
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, pad_low[2] = {0, 0};
};

class DirectFilterGrad {
 public:
  // `convolution.out` must be a multiple of 64. Needs AVX-512.
  explicit DirectFilterGrad(const FilterGradShape& convolution);

  // Computes dw [kernel height, kernel width, in, out]. Each element is one chain of multiply-adds over the pixels in
  // order, or, where the gradient is large, the sum of one chain for each chunk of pixels.
  void Run(const float* x, const float* dy, float* dw) const;

 private:
  // A pixel of x and the pixel of dy with which a tap multiplies it: the offset of the channels in x, and the offset of
  // the columns of dy in its chunk.
  struct Pair {
    int64_t x, dy;
  };

  // Adds the products of a tap's pairs in a chunk of pixels, whose columns of dy lie one after the other.
  void RunTap(int64_t chunk, int64_t tap, const float* x, const float* dy, float* dw) const;
  void PackColumns(const float* dy, int64_t pixels, float* panel) const;

  const FilterGradShape convolution_;
  std::vector<Pair> pairs_;      // the pairs of each tap, for one chunk of pixels after the other
  std::vector<int64_t> begins_;  // where in `pairs_` the pairs of each chunk's taps begin, and the end of the last
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_DIRECT_FILTER_GRAD_H_
