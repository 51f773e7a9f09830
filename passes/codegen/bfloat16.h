// bfloat16 in generated code: 16 bits in memory, a float32 that is rounded in registers.
#ifndef TANDEM_PASSES_CODEGEN_BFLOAT16_H_
#define TANDEM_PASSES_CODEGEN_BFLOAT16_H_

#include "mlir/IR/Builders.h"

namespace tandem {

// The float32 that the 16 bits of `stored` (i16) are the upper half of.
mlir::Value WidenBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value stored);
// The 16 bits (i16) of the bfloat16 nearest to `value` (f32), to even between two. It becomes arith.truncf: one
// instruction with AVX512-BF16; LowerMath writes it out in integer arithmetic for other CPUs. What is seen to
// be a bfloat16 already (widened from one, or chosen among such) just loses its lower half.
mlir::Value NarrowToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value);
// There and back: the nearest bfloat16 as float32.
mlir::Value RoundToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_BFLOAT16_H_
