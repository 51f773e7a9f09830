// The types of elements and numbers in generated code.
#ifndef TANDEM_GRAPH_IR_REGISTER_TYPE_H_
#define TANDEM_GRAPH_IR_REGISTER_TYPE_H_

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tandem::td {

// Returns the type that an element has in registers. Integers become signless (ops know the sign), booleans are i1, and
// bfloat16 becomes float32, which is rounded where an op's result is bfloat16. Other types stay as they are.
inline mlir::Type RegisterType(mlir::Type element) {
  if (element.isBF16()) return mlir::Float32Type::get(element.getContext());
  if (element.isUnsignedInteger()) {
    return mlir::IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  }
  return element;
}

// The number as a constant in the register type of the element type.
inline mlir::Value RegisterNumber(mlir::OpBuilder& b, mlir::Location l, mlir::Type element, double number) {
  const mlir::Type t = RegisterType(element);
  if (mlir::isa<mlir::FloatType>(t)) return b.create<mlir::arith::ConstantOp>(l, b.getFloatAttr(t, number));
  return b.create<mlir::arith::ConstantOp>(l, b.getIntegerAttr(t, static_cast<int64_t>(number)));
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_REGISTER_TYPE_H_
