// What every pass takes for granted of @step, the form of a program from phase `input` on.
#ifndef TANDEM_PASSES_STEP_SIGNATURE_H_
#define TANDEM_PASSES_STEP_SIGNATURE_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// `step` has a body of one block; every argument is a td.input with a batch, a td.scalar or a td.variable, and every
// result a td.update or a td.output. All are tensors of an element type that programs have, whose sizes are known but
// for the batch. Errors are reported where the argument is.
mlir::LogicalResult VerifyStepSignature(mlir::func::FuncOp step);

// The variables that `step` reads and updates are declared in `module`, with the same type.
mlir::LogicalResult VerifyStepVariables(mlir::ModuleOp module, mlir::func::FuncOp step);

// Every launch in `step` names a kernel with a body of one block, and has its operands and results.
mlir::LogicalResult VerifyLaunches(mlir::ModuleOp module, mlir::func::FuncOp step);

}  // namespace tandem

#endif  // TANDEM_PASSES_STEP_SIGNATURE_H_
