// Kernels of Winograd convolutions (passes/exec/winograd.td): one op, one kernel.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Whether the kernel consists of one td.winograd op.
bool IsWinogradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` to `module`. A convolution and its input gradient
// work on rows [begin, end) and give each row the same bits whatever the others are; the filter gradient sums over
// these rows; the transform of a kernel takes parts [begin, end) of the kernel's elements. `vector_bits`: width of the
// target's registers. `native_bfloat16`: the target has AVX512-BF16; without it products of bfloat16 numbers are
// multiply-adds of float32.
void EmitWinogradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits,
                        bool native_bfloat16);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_
