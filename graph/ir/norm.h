// Softmax, cross-entropy and batch moments.
#ifndef TANDEM_GRAPH_IR_NORM_H_
#define TANDEM_GRAPH_IR_NORM_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.h.inc"

namespace tandem::td {

// Of x [b, ..., c] with `count` rows: the number of elements of a channel, in every element of `type` [c].
mlir::Value BuildElementsOfChannel(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value count,
                                   mlir::RankedTensorType type);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_NORM_H_
