// Convolutions inside generated kernels.
#ifndef TANDEM_PASSES_EXEC_DIRECT_H_
#define TANDEM_PASSES_EXEC_DIRECT_H_

#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/direct.h.inc"

namespace tandem::exec {

// Taps up to which a convolution may be a part of a larger kernel; one with more is a kernel of its own.
inline constexpr int64_t kMaxFusedTaps = 16;

// Kernel height x width x input channels of a kernel (HWIO).
int64_t TapsOf(mlir::Type kernel);

// What a kernel that is one convolution copies of an image for a line of the result lies on its thread's stack, which
// has some MiB.
inline constexpr int64_t kMaxLinesBytes = int64_t{1} << 19;
// Bytes of these lines with their padding, at least: of a convolution of `x` (NHWC) by `kernel` (HWIO).
int64_t LinesBytes(mlir::Type x, mlir::Type kernel, llvm::ArrayRef<int64_t> pad_low, llvm::ArrayRef<int64_t> pad_high);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_DIRECT_H_
