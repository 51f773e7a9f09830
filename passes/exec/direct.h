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

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_DIRECT_H_
