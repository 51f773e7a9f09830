// Finds the values that follow from variables and constants alone.
#ifndef TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_
#define TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_

#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Name of the attribute of a td.variable that changes from step to step though the step does not update it: in a
// worker's part, a variable that parameter servers update; in a server's part, one that workers send.
inline constexpr llvm::StringLiteral kUpdatedByOthersAttr = "exec.updated_by_others";

// kNotUpdated: the variables that neither the step nor others update in every step. Values that follow from them are
// invariant: the same in every step until somebody else changes a variable. kAll: all variables. Values that follow
// from them are the same on every device.
enum class Variables { kNotUpdated, kAll };

// Returns the variables themselves (arguments of `step`), constants, and the values that ops outside of maps compute
// from them without writing over an operand.
llvm::DenseSet<mlir::Value> ValuesOfVariables(mlir::func::FuncOp step, Variables variables);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_VALUES_OF_VARIABLES_H_
