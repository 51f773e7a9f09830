// What the arguments and results of a step function stand for, once variables are lifted to them (td-lift-variables).
#ifndef TANDEM_GRAPH_IR_SIGNATURE_H_
#define TANDEM_GRAPH_IR_SIGNATURE_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem::td {

// Names of the attributes.
inline constexpr llvm::StringLiteral kInputAttr = "td.input", kScalarAttr = "td.scalar", kVariableAttr = "td.variable",
                                     kUpdateAttr = "td.update", kOutputAttr = "td.output",
                                     kCheckFiniteAttr = "td.check_finite";

// The input, step scalar or variable that argument `i` is; null when it is none.
inline mlir::StringAttr InputOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::StringAttr>(i, kInputAttr);
}
inline mlir::StringAttr ScalarOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::StringAttr>(i, kScalarAttr);
}
inline mlir::FlatSymbolRefAttr VariableOf(mlir::func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<mlir::FlatSymbolRefAttr>(i, kVariableAttr);
}

// The variable whose new value result `i` is, or the output; null when it is none.
inline mlir::FlatSymbolRefAttr UpdateOf(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<mlir::FlatSymbolRefAttr>(i, kUpdateAttr);
}
inline mlir::StringAttr OutputOf(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<mlir::StringAttr>(i, kOutputAttr);
}

// Whether result `i` is neither, but a value of td.check_finite: until td-insert-finite-check takes it.
inline bool IsChecked(mlir::func::FuncOp step, unsigned i) {
  return step.getResultAttr(i, kCheckFiniteAttr) != mlir::Attribute();
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_SIGNATURE_H_
