// Finds values that are finite whenever a step's sums over the batch are finite.
#ifndef TANDEM_GRAPH_BUILDER_FINITE_VALUES_H_
#define TANDEM_GRAPH_BUILDER_FINITE_VALUES_H_

#include "mlir/IR/Value.h"

namespace tandem::internal {

// True if `value`, which has no batch, is finite whenever all sums over the batch and all variables are. It must be
// made of these by ops that keep numbers finite (sums and products, unless they overflow), or by quotients, roots and
// logarithms of numbers that are above 0 by construction: a number of examples, or a constant added to a square.
bool IsFiniteWithBatchSums(mlir::Value value);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_BUILDER_FINITE_VALUES_H_
