// Kernels of weight gradients that threads share by rows of the result.
#ifndef TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Whether `kernel` is one td.weight_grad.
bool IsWeightGradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`: rows [begin, end) of the result, from the
// first `rows` rows of the operands. Bits do not depend on how the result is split: an element is a chain of
// multiply-adds per lane, in the order of rows, and the lanes' sums are combined in the order of the reduction tree.
void EmitWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
