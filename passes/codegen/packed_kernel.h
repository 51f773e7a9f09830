// Emits kernels of convolutions' filter gradients by a CPU's matrix unit (passes/exec/packed.td): a kernel is a single
// op.
#ifndef TANDEM_PASSES_CODEGEN_PACKED_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_PACKED_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// True if the kernel consists of one exec.packed_filter_grad.
bool IsPackedKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` to `module`, which computes the sum over rows
// [begin, end), of which there is at least one. The target must have AVX-512 and AMX with bfloat16.
void EmitPackedKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_PACKED_KERNEL_H_
