// Emits kernels of attention and its gradient (passes/exec/attention.td): a kernel is a single op.
#ifndef TANDEM_PASSES_CODEGEN_ATTENTION_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_ATTENTION_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// True if the kernel consists of one exec.attention or exec.attention_grad.
bool IsAttentionKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` to `module`, which computes examples [begin,
// end).
void EmitAttentionKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_ATTENTION_KERNEL_H_
