// Convolutions by fewer multiplications: ops and what passes and the code generator need of them.
#ifndef TANDEM_PASSES_EXEC_WINOGRAD_H_
#define TANDEM_PASSES_EXEC_WINOGRAD_H_

#include "passes/exec/dialect.h"
#include "passes/exec/winograd_shape.h"

#define GET_OP_CLASSES
#include "passes/exec/winograd.h.inc"

namespace tandem::exec {

// Sizes from the types and attributes of a valid op.
WinogradShape ShapeOf(WinogradConv2DOp op);
WinogradShape ShapeOf(WinogradInputGradOp op);
WinogradShape ShapeOf(WinogradFilterGradOp op);

// The types of results that follow from sizes: a transformed kernel for `rows` channels summed over and `columns`
// channels of the result, and the scratch memory.
mlir::RankedTensorType TransformedKernelType(mlir::Type element_type, int64_t tile, int64_t rows, int64_t columns);
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const WinogradShape& shape, bool filter_grad);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_WINOGRAD_H_
