// Softmax, cross-entropy and batch moments.
#ifndef TANDEM_GRAPH_IR_NORM_H_
#define TANDEM_GRAPH_IR_NORM_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.h.inc"

namespace tandem::td {

// Returns the number of elements in a channel of x [b, ..., c] with `count` rows, in every element of a tensor of type
// `type` [c].
mlir::Value BuildElementsOfChannel(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value count,
                                   mlir::RankedTensorType type);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_NORM_H_
