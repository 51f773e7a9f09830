// The stack that kernels of convolutions' weight gradients take.
#ifndef TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_

#include <cstdint>

namespace tandem {

// Returns the most bytes for `taps` taps and this many pixels in a whole batch of images.
int64_t ConvWeightGradStackBytes(int64_t taps, int64_t x_pixels, int64_t dy_pixels);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
