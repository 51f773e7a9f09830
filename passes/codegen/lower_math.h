// Lowers the functions of floats that are no instructions, in emitted loops.
#ifndef TANDEM_PASSES_CODEGEN_LOWER_MATH_H_
#define TANDEM_PASSES_CODEGEN_LOWER_MATH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Rewrites an emitted kernel in place: float32 functions become polynomials (relative error below 1e-6). float64
// functions, and all functions in a kernel of scalars only (`precise`), stay for TranslateToLlvmIr, which makes them
// calls of the C library. Without `native_bfloat16` rounding to bfloat16 becomes integer arithmetic.
absl::Status LowerMath(mlir::ModuleOp module, bool precise, bool native_bfloat16);

// Returns the C library's function that an op of math stands for, such as "expf"; empty where there is none.
std::string LibmFunction(mlir::Operation* op);

// Returns the C library's functions that kernels may call and a loader must provide.
const std::vector<std::string>& LibmSymbols();

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LOWER_MATH_H_
