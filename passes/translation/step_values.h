// Values for a step by itself, as tools and tests translate it.
#ifndef TANDEM_PASSES_TRANSLATION_STEP_VALUES_H_
#define TANDEM_PASSES_TRANSLATION_STEP_VALUES_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/translation/program_values.h"

namespace tandem::translation {

// Returns values in which every variable is zeros and all outputs are exported. `step` must outlive them.
ProgramValues ValuesOfStep(mlir::func::FuncOp step);

}  // namespace tandem::translation

#endif  // TANDEM_PASSES_TRANSLATION_STEP_VALUES_H_
