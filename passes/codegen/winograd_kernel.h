// Emits kernels of Winograd convolutions (passes/exec/winograd.td): a kernel is a single op.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// True if the kernel consists of one exec.winograd_* op.
bool IsWinogradKernel(mlir::func::FuncOp kernel);

// Appends `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` to `module`. Convolutions and input gradients
// work on rows [begin, end) and give each row the same bits whatever the other rows are; filter gradients sum over
// these rows; transforms of kernels work on elements [begin, end) of the kernel. `vector_bits`: width of the target's
// registers. `native_bfloat16`: the target has AVX512-BF16; without it products of bfloat16 numbers are multiply-adds
// of float32.
void EmitWinogradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int vector_bits,
                        bool native_bfloat16);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_KERNEL_H_
