// What a contraction may add to its result while it writes it.
#ifndef TANDEM_PASSES_CONTRACTION_RESIDUAL_H_
#define TANDEM_PASSES_CONTRACTION_RESIDUAL_H_

#include "graph/ir/binary.h"

namespace tandem {

// What `add` adds to `y`, a batched value in a map: a value of the map's own, as large as `y`, which lies in memory in
// any case. Null when that is an argument of the map, or what generated kernels would compute on their way: the pass
// over memory that storing it takes is what adding it elsewhere saves.
mlir::Value ResidualOf(td::AddOp add, mlir::Value y);

// Whether all that reads `residual` but for `add` must have run before `op` does, so that `op` may write its result,
// which takes the place of that of `add`, over it.
bool DiesAt(mlir::Value residual, td::AddOp add, mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_RESIDUAL_H_
