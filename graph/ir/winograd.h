// Convolutions by fewer multiplications: ops and what passes and the code generator need of them.
#ifndef TANDEM_GRAPH_IR_WINOGRAD_H_
#define TANDEM_GRAPH_IR_WINOGRAD_H_

#include "graph/ir/dialect.h"
#include "graph/ir/winograd_shape.h"

#define GET_OP_CLASSES
#include "graph/ir/winograd.h.inc"

namespace tandem::td {

// Sizes from the types and attributes of a valid op.
WinogradShape ShapeOf(WinogradConv2DOp op);
WinogradShape ShapeOf(WinogradInputGradOp op);
WinogradShape ShapeOf(WinogradFilterGradOp op);

// The types of results that follow from sizes: a transformed kernel for `rows` channels summed over and `columns`
// channels of the result, and the scratch memory.
mlir::RankedTensorType TransformedKernelType(mlir::Type element_type, int64_t tile, int64_t rows, int64_t columns);
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const WinogradShape& shape, bool filter_grad);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_WINOGRAD_H_
