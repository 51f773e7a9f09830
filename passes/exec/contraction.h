// exec.contraction: contractions that generated code computes, and facts that passes need about them.
#ifndef TANDEM_PASSES_EXEC_CONTRACTION_H_
#define TANDEM_PASSES_EXEC_CONTRACTION_H_

#include <string>

#include "passes/exec/dialect.h"
#include "passes/exec/packed_shape.h"

#define GET_OP_CLASSES
#include "passes/exec/contraction.h.inc"

namespace tandem::exec {

// Builds the op that computes what `op` of td does: a convolution, a filter gradient or a transposed product.
ContractionOp BuildContraction(mlir::OpBuilder& builder, mlir::Operation* op, Algorithm algorithm);

// True if `op` is an exec.contraction of this kind by this algorithm.
bool IsContraction(mlir::Operation* op, ContractionKind kind, Algorithm algorithm);

// Returns the name of `op` for reports. That of exec.contraction says of which kind it is, and by which algorithm.
std::string ReportedName(mlir::Operation* op);

// Most taps of a convolution that may be part of a larger kernel; one with more is a kernel of its own.
inline constexpr int64_t kMaxFusedTaps = 16;

// Returns height x width x input channels of a kernel (HWIO).
int64_t TapsOf(mlir::Type kernel);

// Limit in bytes of the image lines that a kernel of one convolution copies for a line of the result: they lie on its
// thread's stack, which has some MiB.
inline constexpr int64_t kMaxLinesBytes = int64_t{1} << 19;
// Returns the least bytes of the image lines that a kernel of one convolution copies, with their padding. `x` is NHWC,
// `kernel` HWIO.
int64_t LinesBytes(mlir::Type x, mlir::Type kernel, llvm::ArrayRef<int64_t> pad_low, llvm::ArrayRef<int64_t> pad_high);

// Returns the sizes of a filter gradient by tiles.
PackedShape PackedShapeOf(ContractionOp op);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_CONTRACTION_H_
