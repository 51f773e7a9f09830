// Measures the work of a step from its ops.
#ifndef TANDEM_PASSES_CONTRACTION_MEASURE_STEP_H_
#define TANDEM_PASSES_CONTRACTION_MEASURE_STEP_H_

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/analysis/batch_axis.h"
#include "passes/analysis/machine_model.h"
#include "passes/analysis/step_work.h"

namespace tandem {

// Returns the work of a pure step function before maps (loops over microbatches) are formed. Fusion is guessed: values
// between elementwise ops of one map are taken to stay in registers.
StepWork MeasureStep(mlir::func::FuncOp step, const BatchAxis& axis);

// Returns the machine model that the module's configuration names.
absl::StatusOr<MachineModel> MachineModelOf(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_MEASURE_STEP_H_
