// Attention as one op, and its gradient.
#ifndef TANDEM_GRAPH_IR_ATTENTION_H_
#define TANDEM_GRAPH_IR_ATTENTION_H_

#include "graph/ir/attention_shape.h"
#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/attention.h.inc"

namespace tandem::td {

// Returns the sizes of an attention on these tensors, of rank 4 with shapes that fit together.
AttentionShape AttentionShapeOf(mlir::Value query, mlir::Value key, mlir::Value value, bool heads_inside);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_ATTENTION_H_
