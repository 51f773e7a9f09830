// Builds the function by which the runtime calls a CPU kernel.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_ENTRY_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_ENTRY_H_

#include <string>
#include <vector>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// The arguments of the function. docs/developers/internals.md says what the three numbers mean for each kind of kernel.
struct KernelEntry {
  std::vector<mlir::Value> buffers;  // pointers: operands, then results
  mlir::Value begin, end, rows;      // i64
};

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)` to `module`. Ops are then inserted into the function's
// body; the caller has to add the return at its end.
KernelEntry BeginKernelEntry(mlir::OpBuilder& b, mlir::Location loc, const std::string& symbol, mlir::ModuleOp module,
                             unsigned buffers);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_ENTRY_H_
