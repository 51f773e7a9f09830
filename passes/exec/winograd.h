// Winograd's convolutions with fewer multiplications: helpers that passes and the code generator need for their ops.
#ifndef TANDEM_PASSES_EXEC_WINOGRAD_H_
#define TANDEM_PASSES_EXEC_WINOGRAD_H_

#include "passes/exec/dialect.h"
#include "passes/exec/winograd_shape.h"

#define GET_OP_CLASSES
#include "passes/exec/winograd.h.inc"

namespace tandem::exec {

// Returns the sizes of a valid op, from its types and attributes.
WinogradShape ShapeOf(WinogradConv2DOp op);
WinogradShape ShapeOf(WinogradInputGradOp op);
WinogradShape ShapeOf(WinogradFilterGradOp op);

// Return the types of results that follow from sizes: of a transformed kernel for `rows` channels that are summed over
// and `columns` channels of the result, and of the scratch memory.
mlir::RankedTensorType TransformedKernelType(mlir::Type element_type, int64_t tile, int64_t rows, int64_t columns);
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const WinogradShape& shape, bool filter_grad);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_WINOGRAD_H_
