// Facts about a kernel's values that emitters of loops, for CPUs and GPUs, need.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_

#include <cstdint>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Returns the elements of a tensor of type `type`, or those of one row when it is batched.
int64_t InnerSize(mlir::Type type);

// Returns the radices of the inner shape of `type`, without the batch, cut finely enough that every reshape of it in
// the kernel only regroups them.
llvm::SmallVector<int64_t> KernelRadices(mlir::func::FuncOp kernel, mlir::Type type);

// Groups the numbers in `which` by the inner size (elements without the batch) of `values[i]`.
std::vector<std::vector<unsigned>> GroupBySize(llvm::ArrayRef<mlir::Value> values, const std::vector<unsigned>& which);

// Returns the values that are computed into memory for each row (without `batched`: once) before others use them, in
// the order of the kernel: reductions, and values that are better stored than computed twice.
std::vector<mlir::Value> StagedValues(mlir::func::FuncOp kernel, bool batched);

// True if `value` depends on a value for which `is_one` returns true.
bool DependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Value)> is_one);

// True if `op` reduces: each element of its result is computed by a loop over some dimensions of its operand.
bool IsReduceOp(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_
