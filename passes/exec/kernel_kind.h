// The kind of a kernel function: what it runs over.
#ifndef TANDEM_PASSES_EXEC_KERNEL_KIND_H_
#define TANDEM_PASSES_EXEC_KERNEL_KIND_H_

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem::exec {

// What a kernel of this kind counts in its range [begin, end).
format::Domain DomainOf(KernelKind kind);

// None of a function that is no kernel.
std::optional<KernelKind> GetKernelKind(mlir::func::FuncOp function);
void SetKernelKind(mlir::func::FuncOp function, KernelKind kind);

// For each result of the kernel the operand whose buffer it shares, or -1; empty before td-assign-buffers.
llvm::ArrayRef<int64_t> GetAliases(mlir::func::FuncOp kernel);
void SetAliases(mlir::func::FuncOp kernel, mlir::DenseI64ArrayAttr aliases);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_KERNEL_KIND_H_
