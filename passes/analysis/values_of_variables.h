// Which values follow from variables and constants alone.
#ifndef TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_
#define TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_

#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Of a td.variable that changes from step to step though the step does not update it: in a worker's part, what
// parameter servers update; in a server's, what workers send.
inline constexpr llvm::StringLiteral kUpdatedByOthersAttr = "exec.updated_by_others";

// kNotUpdated: variables that neither the step nor others update in every step; what follows from them is invariant,
// the same in every step until somebody else changes a variable. kAll: what follows from them is the same on every
// device.
enum class Variables { kNotUpdated, kAll };

// The variables themselves (arguments of `step`), constants, and what ops outside of maps compute of them without
// writing over an operand.
llvm::DenseSet<mlir::Value> ValuesOfVariables(mlir::func::FuncOp step, Variables variables);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_
