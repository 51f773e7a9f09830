// Finds values (residuals) that a contraction may add to its result while it writes it.
#ifndef TANDEM_PASSES_CONTRACTION_RESIDUAL_H_
#define TANDEM_PASSES_CONTRACTION_RESIDUAL_H_

#include "graph/ir/binary.h"

namespace tandem {

// Returns the value that `add` adds to `y`, a batched value in a map, if it is as large as `y`, computed in the map and
// stored in memory in any case. Null if it is an argument of the map, or if generated kernels would compute it without
// storing it: storing it would cost the pass over memory that adding it in the contraction saves.
mlir::Value ResidualOf(td::AddOp add, mlir::Value y);

// True if every reader of `residual` other than `add` must run before `op`, so that `op` may write its result, which
// replaces that of `add`, over `residual`.
bool DiesAt(mlir::Value residual, td::AddOp add, mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_RESIDUAL_H_
