// Checks what every pass assumes of @step, the function that holds a program from phase `input` on.
#ifndef TANDEM_PASSES_BASE_STEP_SIGNATURE_H_
#define TANDEM_PASSES_BASE_STEP_SIGNATURE_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// Checks that `step` has a body of one block, that every argument is a td.input with a batch, a td.scalar or a
// td.variable, and every result a td.update, a td.output or a td.check_finite. All must be tensors of an element type
// that programs have, whose sizes are known except for the batch. Errors are reported at the argument's location.
mlir::LogicalResult VerifyStepSignature(mlir::func::FuncOp step);

// Checks that the variables that `step` reads and updates are declared in `module`, with the same type.
mlir::LogicalResult VerifyStepVariables(mlir::ModuleOp module, mlir::func::FuncOp step);

// Checks that every launch in `step` names a kernel with a body of one block and has operands and results of its types.
mlir::LogicalResult VerifyLaunches(mlir::ModuleOp module, mlir::func::FuncOp step);

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_STEP_SIGNATURE_H_
