// Emits kernels of convolutions' weight gradients, whose rows threads share out among themselves.
#ifndef TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// True if `kernel` consists of one exec.conv2d_weight_grad.
bool IsConvWeightGradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`. It computes rows [begin, end) of the
// result, where row r is input channel r / taps of tap r % taps, from the first `rows` examples of the operands. Rows
// of a few channels share the copies of the operands for all taps. Bits do not depend on how the result is split (see
// EmitWeightGradKernel). The copies lie on the stack: ConvWeightGradStackBytes.
void EmitConvWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module,
                              int vector_bits);

// Returns the most bytes of stack that such a kernel takes, for `taps` taps and this many pixels in a whole batch of
// images.
int64_t ConvWeightGradStackBytes(int64_t taps, int64_t x_pixels, int64_t dy_pixels);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
