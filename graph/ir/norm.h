// Softmax, cross-entropy and batch moments.
#ifndef TANDEM_GRAPH_IR_NORM_H_
#define TANDEM_GRAPH_IR_NORM_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.h.inc"

namespace tandem::td {

// Returns a tensor of type `type` [c] in which every element is the number of elements of one channel of x [b, ..., c].
// `count` is the number of rows, b.
mlir::Value BuildElementsOfChannel(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value count,
                                   mlir::RankedTensorType type);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_NORM_H_
