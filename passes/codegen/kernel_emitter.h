// Turns an outlined kernel (td ops in a func.func) into LLVM-dialect functions with scf, arith and math inside.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/codegen/emitter.h"

namespace tandem {

// Returns the first emitter of the table that can emit the kernel. The last one, which emits loops, can emit any
// kernel.
const Emitter& EmitterOf(mlir::func::FuncOp kernel);

// Loads the dialects that emitted kernels use; call it before threads share the context.
void LoadCodegenDialects(mlir::MLIRContext& context);

// Returns a module with `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` for `kernel`; see
// docs/developers/internals.md for the ABI and the kinds of kernels. The attribute `exec.alias` (per result the operand
// whose buffer it may share, or -1) is honoured for kernels and operands where MayAlias (kernel_context.h) holds.
//
// Results have the same bits for every split of [begin, end) and every alignment: elementwise code has no freedom of
// rounding (multiply-adds are fused here, not by LLVM), and every row with a reduction goes through one function.
// `vector_bits`: the width of registers that code with explicit vectors is written for; `native_bfloat16`: whether it
// may use AVX512-BF16.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitKernel(mlir::func::FuncOp kernel, const std::string& symbol,
                                                             bool fuse_multiply_add, int vector_bits,
                                                             bool native_bfloat16);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_
