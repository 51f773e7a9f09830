// Emits kernels of weight gradients, whose rows threads share out among themselves.
#ifndef TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_

#include <cstdint>
#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/register_tile.h"

namespace tandem {

// True if `kernel` consists of one exec.weight_grad.
bool IsWeightGradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`. It computes rows [begin, end) of the
// result from the first `rows` rows of the operands. Bits do not depend on how the result is split: an element is a
// chain of multiply-adds per lane, in the order of rows, and the lanes' sums are combined in the order of the reduction
// tree. The part of x that a call copies is on the stack: WeightGradStackBytes.
void EmitWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits);

// Returns the bytes of stack for sums over `depth` rows of the operands, including rows that lanes lack.
inline constexpr int64_t WeightGradStackBytes(int64_t depth) { return 4 * depth * RegisterTileRows(16); }

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
