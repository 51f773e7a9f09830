// What the tensors of collectives are called in dumps, traces and errors.
#ifndef TANDEM_PASSES_DISTRIBUTE_COLLECTIVE_NAME_H_
#define TANDEM_PASSES_DISTRIBUTE_COLLECTIVE_NAME_H_

#include <string>

#include "mlir/IR/Value.h"

namespace tandem {

// A name, never empty, for `part`, a replica's share of what a collective combines. `whole` has the uses of the result;
// both are values of the step's body.
//   "gradient of dense/kernel"                    a gradient of that variable, or one of several that are added up
//   "update of batch_normalization/moving_mean"   the new value of that variable
//   "categorical_crossentropy/Sum"                anything else: the op that computes it
std::string CollectiveName(mlir::Value part, mlir::Value whole);

}  // namespace tandem

#endif  // TANDEM_PASSES_DISTRIBUTE_COLLECTIVE_NAME_H_
