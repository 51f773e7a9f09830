// Which convolutions are left to generated kernels.
#ifndef TANDEM_PASSES_SMALL_CONVOLUTION_H_
#define TANDEM_PASSES_SMALL_CONVOLUTION_H_

#include "mlir/IR/Operation.h"

namespace tandem {

// Whether `op` is a convolution, or the gradient to its kernel, over a batch and at most 16 taps (kernel height x width
// x input channels) with channels that fill vector registers. Whether it is float32, as td-expand-small-convolution
// wants it, is not asked.
bool IsSmallConvolution(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_SMALL_CONVOLUTION_H_
