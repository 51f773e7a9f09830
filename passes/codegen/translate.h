// Translates emitted loops (scf, arith, math and the memory ops of the LLVM dialect) to LLVM IR, in one walk.
#ifndef TANDEM_PASSES_CODEGEN_TRANSLATE_H_
#define TANDEM_PASSES_CODEGEN_TRANSLATE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Returns a module of `context` with the functions (llvm.func) of `module`, which is only read. Values of type index
// get `index_bits` bits; float functions that LLVM has no instructions for become calls of the C library
// (lower_math.h). Operations on constants are folded, and loops of one turn and branches with known conditions become
// straight code. All other simplification is left to LLVM's passes (optimize.h). MLIR's dialect conversion gave the
// same code but took a third of the time of a kernel's compilation.
//
//   scf.for %i = %c0 to %n step %c1 { ... }   =>   br head; head: phi, icmp slt, br body, exit; body: ..., add, br head
//
// Internal for an op that has no translation here: add it to translate_arith.cc or translate_memory.cc.
absl::StatusOr<std::unique_ptr<llvm::Module>> TranslateToLlvmIr(mlir::ModuleOp module, llvm::LLVMContext& context,
                                                                int index_bits = 64);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_TRANSLATE_H_
