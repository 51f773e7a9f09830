// Names the tensors of collectives for dumps, traces and errors.
#ifndef TANDEM_PASSES_PHASES_DISTRIBUTE_COLLECTIVE_NAME_H_
#define TANDEM_PASSES_PHASES_DISTRIBUTE_COLLECTIVE_NAME_H_

#include <string>

#include "mlir/IR/Value.h"

namespace tandem {

// Returns a name, never empty, for `part`, a replica's share of the value that a collective combines. The uses of
// `whole` are those of the collective's result; both are values of the step's body.
//   "gradient of dense/kernel"                    a gradient of that variable, or one of several that are added up
//   "update of batch_normalization/moving_mean"   the new value of that variable
//   "categorical_crossentropy/Sum"                anything else: the op that computes it
std::string CollectiveName(mlir::Value part, mlir::Value whole);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_DISTRIBUTE_COLLECTIVE_NAME_H_
