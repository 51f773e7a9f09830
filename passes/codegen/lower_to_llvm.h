// From scf, arith and math to the LLVM dialect, and from there to LLVM IR.
#ifndef TANDEM_PASSES_CODEGEN_LOWER_TO_LLVM_H_
#define TANDEM_PASSES_CODEGEN_LOWER_TO_LLVM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Registers what translation to LLVM IR needs; once per context, before threads share it.
void RegisterLlvmTranslation(mlir::MLIRContext& context);

// Lowers an emitted kernel in place. float32 functions become polynomials (relative error below 1e-6); float64 ones,
// and all in a kernel that works on scalars only (`precise`), become calls of the C library.
// Without `native_bfloat16` rounding to bfloat16 becomes integer arithmetic. Values of type index get `index_bits`
// bits.
absl::Status LowerToLlvmDialect(mlir::ModuleOp module, bool precise, bool native_bfloat16, int index_bits = 64);

absl::StatusOr<std::unique_ptr<llvm::Module>> TranslateToLlvmIr(mlir::ModuleOp module, llvm::LLVMContext& context);

// The C library's functions that kernels may call: all that a loader must provide.
const std::vector<std::string>& LibmSymbols();

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LOWER_TO_LLVM_H_
