// Kernels of convolutions' weight gradients that threads share by rows of the result.
#ifndef TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Whether `kernel` is one td.conv2d_weight_grad.
bool IsConvWeightGradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`: rows [begin, end) of the result as a
// matrix of (taps x input channels) x output channels, from the first `rows` examples of the operands. Bits do not
// depend on how the result is split (see EmitWeightGradKernel). What a call copies of its operands lies on the stack:
// ConvWeightGradStackBytes.
void EmitConvWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module,
                              int vector_bits);

// For sums over at most `depth` pixels of a whole batch.
inline constexpr int64_t kConvWeightGradRows = 128;  // of the result, whose operands are copied together
inline constexpr int64_t ConvWeightGradStackBytes(int64_t depth) { return 4 * depth * (kConvWeightGradRows + 32); }

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CONV_WEIGHT_GRAD_KERNEL_H_
