// What makes two kernels one and the same.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Type, kind, shared buffers and ops of an outlined kernel, without its name and locations: equal for kernels that have
// the same code.
std::string KernelText(mlir::func::FuncOp kernel);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_TEXT_H_
