// Emits kernels of convolutions of few input channels, with bias and relu.
#ifndef TANDEM_PASSES_CODEGEN_DIRECT_CONV_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_DIRECT_CONV_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// True if `kernel` consists of one float32 exec.direct_conv2d of its arguments, perhaps followed by a bias per channel,
// perhaps followed by td.relu, and if the lines of its images fit a thread's stack.
bool IsDirectConvKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`, which computes rows [begin, end) of the
// result. An element is a chain of multiply-adds over all taps in order, with zeros in the padding.
void EmitDirectConvKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_DIRECT_CONV_KERNEL_H_
