// What all skeletons of kernels, for CPUs and GPUs, want to know of a kernel's values.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_

#include <cstdint>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Elements of a tensor of type `type`; of one row when it is batched.
int64_t InnerSize(mlir::Type type);

// A space for the inner shape of `type`, cut so that all reshapes of it in the kernel fall on borders.
llvm::SmallVector<int64_t> KernelRadices(mlir::func::FuncOp kernel, mlir::Type type);

// The values `values[i]` for i in `which`, by equal inner size.
std::vector<std::vector<unsigned>> GroupBySize(llvm::ArrayRef<mlir::Value> values, const std::vector<unsigned>& which);

// Values that a row (without `batched`: the kernel) computes into memory before others use them: reductions, and what
// is better stored than computed twice. In the order of the kernel.
std::vector<mlir::Value> StagedValues(mlir::func::FuncOp kernel, bool batched);

// Whether `op` reduces: a loop over some dimensions of its operand per element of the result.
bool IsReduceOp(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_VALUES_H_
