// Which convolutions are left to generated kernels.
#ifndef TANDEM_PASSES_SMALL_CONVOLUTION_H_
#define TANDEM_PASSES_SMALL_CONVOLUTION_H_

#include "mlir/IR/Operation.h"

namespace tandem {

// Taps up to which a convolution may be a part of a larger kernel.
inline constexpr int64_t kMaxFusedTaps = 16;

// Kernel height x width x input channels of a kernel (HWIO).
int64_t TapsOf(mlir::Type kernel);

// Whether `op` is a convolution, or the gradient to its kernel, over a batch and at most kMaxFusedTaps taps with
// channels that fill vector registers. Whether it is float32, as td-expand-small-convolution wants it, is not asked.
bool IsSmallConvolution(mlir::Operation* op);

// Whether `op` is a convolution over a batch and the channels of a picture, with more taps than kMaxFusedTaps. A kernel
// of its own is faster than oneDNN's, which wants 16 channels: 1.3 instead of 2.7 ms for a picture of VGG16's first
// layer, 1.65 instead of 3 for ResNet-50's (7x7, stride 2), on a loaded Intel Xeon.
bool IsPictureConvolution(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_SMALL_CONVOLUTION_H_
