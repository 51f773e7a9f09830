// Kernels of convolutions' weight gradients that threads share by rows of the result.
#ifndef TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Whether `kernel` is one exec.conv2d_weight_grad.
bool IsConvWeightGradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`: rows [begin, end) of the result, where row
// r is input channel r / taps of tap r % taps, from the first `rows` examples of the operands. Rows of a few channels
// share the copies of the operands for all taps. Bits do not depend on how the result is split (see
// EmitWeightGradKernel). The copies lie on the stack: ConvWeightGradStackBytes.
void EmitConvWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module,
                              int vector_bits);

// At most, for kernels of `taps` places and images of so many pixels in a whole batch.
int64_t ConvWeightGradStackBytes(int64_t taps, int64_t x_pixels, int64_t dy_pixels);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
