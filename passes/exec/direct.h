// Convolutions inside generated kernels.
#ifndef TANDEM_PASSES_EXEC_DIRECT_H_
#define TANDEM_PASSES_EXEC_DIRECT_H_

#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/direct.h.inc"

namespace tandem::exec {

// The most taps (height x width x input channels) of a convolution that may be fused with other ops. A convolution with
// more is a kernel of its own.
inline constexpr int64_t kMaxFusedTaps = 16;

// Returns height x width x input channels of a kernel (HWIO).
int64_t TapsOf(mlir::Type kernel);

// Limit in bytes of the image lines that a kernel of one convolution copies for a line of the result: they lie on its
// thread's stack, which has some MiB.
inline constexpr int64_t kMaxLinesBytes = int64_t{1} << 19;
// Returns the least bytes of these lines, with their padding, for a convolution of `x` (NHWC) by `kernel` (HWIO).
int64_t LinesBytes(mlir::Type x, mlir::Type kernel, llvm::ArrayRef<int64_t> pad_low, llvm::ArrayRef<int64_t> pad_high);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_DIRECT_H_
