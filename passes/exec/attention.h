// Attention in generated kernels: helpers that passes and the code generator need for its ops.
#ifndef TANDEM_PASSES_EXEC_ATTENTION_H_
#define TANDEM_PASSES_EXEC_ATTENTION_H_

#include "graph/ir/attention_shape.h"
#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/attention.h.inc"

namespace tandem::exec {

// Returns the sizes of a valid op, from its types and attributes.
AttentionShape ShapeOf(AttentionOp op);
AttentionShape ShapeOf(AttentionGradOp op);

// Returns the type of the scratch memory, an extra result of the op.
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const AttentionShape& shape, bool gradient);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_ATTENTION_H_
