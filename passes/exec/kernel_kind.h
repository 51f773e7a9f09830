// The kind of a kernel function, such as flat or block, which says over what its range [begin, end) runs.
#ifndef TANDEM_PASSES_EXEC_KERNEL_KIND_H_
#define TANDEM_PASSES_EXEC_KERNEL_KIND_H_

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem::exec {

// Returns what a kernel of this kind counts in its range [begin, end).
format::Domain DomainOf(KernelKind kind);

// Returns the kind of a kernel; nothing for a function that is no kernel.
std::optional<KernelKind> GetKernelKind(mlir::func::FuncOp function);
void SetKernelKind(mlir::func::FuncOp function, KernelKind kind);

// Returns, for each result of the kernel, the operand whose buffer it shares, or -1; an empty list before
// td-separate-aliases.
llvm::ArrayRef<int64_t> GetAliases(mlir::func::FuncOp kernel);
void SetAliases(mlir::func::FuncOp kernel, mlir::DenseI64ArrayAttr aliases);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_KERNEL_KIND_H_
