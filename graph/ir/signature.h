// The meaning of a step function's arguments and results, once variables are lifted to them (td-lift-variables).
#ifndef TANDEM_GRAPH_IR_SIGNATURE_H_
#define TANDEM_GRAPH_IR_SIGNATURE_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem::td {

// Names of the attributes of arguments (the first three) and of results.
inline constexpr llvm::StringLiteral kInputAttr = "td.input", kScalarAttr = "td.scalar", kVariableAttr = "td.variable",
                                     kUpdateAttr = "td.update", kOutputAttr = "td.output",
                                     kCheckFiniteAttr = "td.check_finite";

// Returns the input, step scalar or variable that argument `i` stands for; null if it stands for none.
inline mlir::StringAttr InputOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::StringAttr>(i, kInputAttr);
}
inline mlir::StringAttr ScalarOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::StringAttr>(i, kScalarAttr);
}
inline mlir::FlatSymbolRefAttr VariableOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::FlatSymbolRefAttr>(i, kVariableAttr);
}

// Returns the variable whose new value is result `i`, or the output; null if it is none.
inline mlir::FlatSymbolRefAttr UpdateOf(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<mlir::FlatSymbolRefAttr>(i, kUpdateAttr);
}
inline mlir::StringAttr OutputOf(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<mlir::StringAttr>(i, kOutputAttr);
}

// True if result `i` is a value that td.check_finite names. td-insert-finite-check removes such results.
inline bool IsChecked(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttr(i, kCheckFiniteAttr) != mlir::Attribute();
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_SIGNATURE_H_
