// Notes of the precision that each op got, for people.
#ifndef TANDEM_PASSES_PRECISION_PRECISION_DECISIONS_H_
#define TANDEM_PASSES_PRECISION_PRECISION_DECISIONS_H_

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Keeps exec.precision_decision attributes with the module.
void SetPrecisionDecisions(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> decisions);

// Takes them off the module: the lines of kPrecisionDecisions (passes/report_segments.h).
std::string TakePrecisionDecisions(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_PRECISION_PRECISION_DECISIONS_H_
