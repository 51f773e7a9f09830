// bfloat16 in generated code: 16 bits in memory, a float32 that is rounded in registers.
#ifndef TANDEM_PASSES_CODEGEN_BFLOAT16_H_
#define TANDEM_PASSES_CODEGEN_BFLOAT16_H_

#include "mlir/IR/Builders.h"

namespace tandem {

// Returns the float32 whose upper half are the 16 bits of `stored` (i16).
mlir::Value WidenBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value stored);
// Returns the 16 bits (i16) of the bfloat16 nearest to `value` (f32); ties go to even. This becomes arith.truncf: one
// instruction with AVX512-BF16, and integer arithmetic, written by LowerMath, for other CPUs. If `value` is visibly a
// bfloat16 already (widened from one, or selected among such values), only its lower half is cut off.
mlir::Value NarrowToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value);
// Returns the bfloat16 nearest to `value` as float32.
mlir::Value RoundToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_BFLOAT16_H_
