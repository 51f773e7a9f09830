// Decides how generated code rounds, instead of leaving it to LLVM.
#ifndef TANDEM_PASSES_CODEGEN_FLOAT_RULES_H_
#define TANDEM_PASSES_CODEGEN_FLOAT_RULES_H_

#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Turns a*b + c into math.fma, whatever else uses the product, so that every kernel rounds the sum alike (LLVM's
// `contract` flag would leave it to chance even whether a vector loop and its scalar rest do). Sums that may be
// reassociated keep add and multiply, both `contract`: LLVM vectorises no other form, and their code runs for whole
// rows only.
void ApplyFloatRules(mlir::ModuleOp module, bool fuse_multiply_add);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_FLOAT_RULES_H_
