// What the check of a step's sums over the batch tells of values that are computed from them.
#ifndef TANDEM_GRAPH_FINITE_VALUES_H_
#define TANDEM_GRAPH_FINITE_VALUES_H_

#include "mlir/IR/Value.h"

namespace tandem::internal {

// Whether `value`, which has no batch, is finite where all sums over the batch and all variables are: it is made of
// them by ops that keep numbers finite (sums and products, unless they overflow), and by quotients, roots and
// logarithms of what is above 0 by how it is made: a number of examples, or a constant that is added to a square.
bool IsFiniteWithBatchSums(mlir::Value value);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_FINITE_VALUES_H_
