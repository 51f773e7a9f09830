// Generates scalar code for the elementwise ops with two operands.
#include "graph/ir/binary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tandem::td {

using mlir::Value;
namespace arith = mlir::arith;

// TD_ELEMENT(Op, FloatOp, IntOp) defines Op::emitElement: it emits FloatOp on floating-point elements, else IntOp.
#define TD_ELEMENT(Op, FloatOp, IntOp)                                                              \
  Value Op::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {                  \
    Value x = c.Operand(0, indices), y = c.Operand(1, indices);                                     \
    if (mlir::isa<mlir::FloatType>(x.getType())) return c.builder().create<FloatOp>(c.loc(), x, y); \
    return c.builder().create<IntOp>(c.loc(), x, y);                                                \
  }

TD_ELEMENT(AddOp, arith::AddFOp, arith::AddIOp)
TD_ELEMENT(SubOp, arith::SubFOp, arith::SubIOp)
TD_ELEMENT(MulOp, arith::MulFOp, arith::MulIOp)
TD_ELEMENT(MaxOp, arith::MaximumFOp, arith::MaxSIOp)
TD_ELEMENT(MinOp, arith::MinimumFOp, arith::MinSIOp)

#undef TD_ELEMENT
#define TD_ELEMENT(Op, ScalarOp)                                                   \
  Value Op::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) { \
    Value x = c.Operand(0, indices), y = c.Operand(1, indices);                    \
    return c.builder().create<ScalarOp>(c.loc(), x, y);                            \
  }

TD_ELEMENT(DivOp, arith::DivFOp)
TD_ELEMENT(AndOp, arith::AndIOp)
TD_ELEMENT(OrOp, arith::OrIOp)

#undef TD_ELEMENT

// Small whole powers become products: faster than pow, and defined for every base.
Value PowOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  Value x = c.Operand(0, indices), y = c.Operand(1, indices);
  mlir::OpBuilder& b = c.builder();
  if (auto constant = y.getDefiningOp<arith::ConstantOp>()) {
    auto value = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
    if (value && value.getValueAsDouble() == 2) return b.create<arith::MulFOp>(c.loc(), x, x);
    if (value && value.getValueAsDouble() == 3) {
      return b.create<arith::MulFOp>(c.loc(), x, Value(b.create<arith::MulFOp>(c.loc(), x, x)));
    }
  }
  return b.create<mlir::math::PowFOp>(c.loc(), x, y);
}

namespace {

// The predicates of float comparisons in the order of ComparePredicate. If an operand is NaN, only kNe holds.
using F = arith::CmpFPredicate;
constexpr F kFloatPredicates[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
using I = arith::CmpIPredicate;
constexpr I kSignedPredicates[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
constexpr I kUnsignedPredicates[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};

}  // namespace

Value CompareOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  Value x = c.Operand(0, indices), y = c.Operand(1, indices);
  const auto predicate = static_cast<size_t>(getPredicate());
  if (mlir::isa<mlir::FloatType>(x.getType())) {
    return c.builder().create<arith::CmpFOp>(c.loc(), kFloatPredicates[predicate], x, y);
  }
  // Booleans and uint8 compare as unsigned numbers.
  mlir::Type type = mlir::getElementTypeOrSelf(getLhs().getType());
  bool is_unsigned = type.isInteger(1) || type.isUnsignedInteger();
  const I integer = (is_unsigned ? kUnsignedPredicates : kSignedPredicates)[predicate];
  return c.builder().create<arith::CmpIOp>(c.loc(), integer, x, y);
}

Value SelectOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  Value condition = c.Operand(0, indices), x = c.Operand(1, indices), y = c.Operand(2, indices);
  return c.builder().create<arith::SelectOp>(c.loc(), condition, x, y);
}

}  // namespace tandem::td
