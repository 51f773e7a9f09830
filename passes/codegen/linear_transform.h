// Emits products of a small constant matrix with vectors of values: the 1-D transforms of Winograd convolutions.
#ifndef TANDEM_PASSES_CODEGEN_LINEAR_TRANSFORM_H_
#define TANDEM_PASSES_CODEGEN_LINEAR_TRANSFORM_H_

#include <vector>

#include "passes/codegen/vector_builder.h"
#include "passes/exec/toom_cook.h"

namespace tandem {

// Returns matrix * x. What several rows have in common is computed once: two columns that are equal except for signs
// are replaced by the sum and the difference of their operands, and two rows that are so by the sum and the difference
// of partial results. A null element of x stands for zero.
std::vector<mlir::Value> EmitTransform(VectorBuilder& v, const RationalMatrix& matrix,
                                       const std::vector<mlir::Value>& x);

// Returns matrix * x * matrix^T for x [columns x columns], row-major; the result is [rows x rows].
std::vector<mlir::Value> EmitTransform2D(VectorBuilder& v, const RationalMatrix& matrix,
                                         const std::vector<mlir::Value>& x);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LINEAR_TRANSFORM_H_
