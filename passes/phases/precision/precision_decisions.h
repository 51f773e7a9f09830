// Records for people in which precision each op computes, and why.
#ifndef TANDEM_PASSES_PHASES_PRECISION_PRECISION_DECISIONS_H_
#define TANDEM_PASSES_PHASES_PRECISION_PRECISION_DECISIONS_H_

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Stores exec.precision_decision attributes in the module.
void SetPrecisionDecisions(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> decisions);

// Removes the decisions from the module and returns them as the lines of kPrecisionDecisions
// (passes/base/report_segments.h).
std::string TakePrecisionDecisions(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_PRECISION_PRECISION_DECISIONS_H_
