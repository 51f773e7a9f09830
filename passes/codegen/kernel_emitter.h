// Turns an outlined kernel (td ops in a func.func) into LLVM-dialect functions with scf, arith and math inside.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tandem {

// Loads the dialects that emitted kernels use; call it before threads share the context.
void LoadCodegenDialects(mlir::MLIRContext& context);

// Returns a module with `void SYMBOL(ptr args, i64 begin, i64 end, i64 row_offset)` for `kernel`; see
// docs/developers/internals.md for the ABI and the kinds of kernels. The attribute `exec.alias` (per result the operand
// whose buffer it may share, or -1) is honoured for kernels and operands where MayAlias holds.
//
// Results have the same bits for every split of [begin, end) and every alignment: elementwise code has no freedom of
// rounding (multiply-adds are fused here, not by LLVM), and every row with a reduction goes through one function.
// `vector_bits`: the width of registers that code with explicit vectors is written for; `native_bfloat16`: whether it
// may use AVX512-BF16.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitKernel(mlir::func::FuncOp kernel, const std::string& symbol,
                                                             bool fuse_multiply_add, int vector_bits,
                                                             bool native_bfloat16);

// True if result `result` may overwrite the buffer of operand `operand`: every element of the operand is only read to
// compute the same element of the results.
bool MayAlias(mlir::func::FuncOp kernel, unsigned operand, unsigned result);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_EMITTER_H_
