// Attention in generated kernels: ops and what passes and the code generator need of them.
#ifndef TANDEM_PASSES_EXEC_ATTENTION_H_
#define TANDEM_PASSES_EXEC_ATTENTION_H_

#include "graph/ir/attention_shape.h"
#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/attention.h.inc"

namespace tandem::exec {

// Sizes from the types and attributes of a valid op.
AttentionShape ShapeOf(AttentionOp op);
AttentionShape ShapeOf(AttentionGradOp op);

// The type of the scratch memory.
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const AttentionShape& shape, bool gradient);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_ATTENTION_H_
