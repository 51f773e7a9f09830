// The text of a kernel, which is equal for kernels that have the same code.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Returns type, kind, shared buffers and ops of an outlined kernel as text, without its name and locations: equal for
// kernels that have the same code.
std::string KernelText(mlir::func::FuncOp kernel);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_
