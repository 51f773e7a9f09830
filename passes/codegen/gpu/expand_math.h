// Expands functions that GPUs have no instructions for into arithmetic, since no library is linked into kernels.
#ifndef TANDEM_PASSES_CODEGEN_GPU_EXPAND_MATH_H_
#define TANDEM_PASSES_CODEGEN_GPU_EXPAND_MATH_H_

#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Replaces exp, log, tanh, erf and pow of float64, and pow of float32, by code of additions, products, divisions and
// bit operations; with `precise` also the other functions of float32, which are then computed in float64 and rounded.
// Relative errors: below 4e-16 for exp, log, tanh and erf; for x^y below 1e-15 (1 + |y log x|). Special values as in C,
// except that (-1)^infinity is NaN. erf of float32 becomes polynomials and an exp, which is left as it is (relative
// error below 3e-7).
//
// Maxima and minima that let NaN through become the instruction, a comparison and a selection; LLVM would also compare
// zeros, whose order the instruction keeps already.
void ExpandMath(mlir::ModuleOp module, bool precise);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_EXPAND_MATH_H_
