// Scalar code of the elementwise ops with one operand.
#include <limits>

#include "graph/ir/register_type.h"
#include "graph/ir/unary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tandem::td {

using mlir::Value;
namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

Value Number(mlir::OpBuilder& b, mlir::Location l, mlir::Type type, double v) {
  if (mlir::isa<mlir::FloatType>(type)) return b.create<arith::ConstantOp>(l, b.getFloatAttr(type, v));
  return b.create<arith::ConstantOp>(l, b.getIntegerAttr(type, static_cast<int64_t>(v)));
}

// uint8 values arrive as signless i8, bfloat16 as float32; `from` is the element type of the tensor. Rounding to
// bfloat16 is the kernel emitter's work.
Value CastElement(mlir::OpBuilder& b, mlir::Location l, Value x, mlir::Type from, mlir::Type to) {
  bool is_unsigned = from.isUnsignedInteger() || from.isInteger(1);
  mlir::Type storage = RegisterType(to);
  if (x.getType() == storage) return x;
  bool from_float = mlir::isa<mlir::FloatType>(from), to_float = mlir::isa<mlir::FloatType>(to);
  if (to.isInteger(1)) {
    Value zero = Number(b, l, x.getType(), 0);
    if (from_float) return b.create<arith::CmpFOp>(l, arith::CmpFPredicate::UNE, x, zero);
    return b.create<arith::CmpIOp>(l, arith::CmpIPredicate::ne, x, zero);
  }
  unsigned from_bits = x.getType().getIntOrFloatBitWidth(), to_bits = storage.getIntOrFloatBitWidth();
  if (from_float && to_float) {
    if (to_bits > from_bits) return b.create<arith::ExtFOp>(l, storage, x);
    return b.create<arith::TruncFOp>(l, storage, x);
  }
  if (from_float) {
    if (to.isUnsignedInteger()) return b.create<arith::FPToUIOp>(l, storage, x);
    return b.create<arith::FPToSIOp>(l, storage, x);
  }
  if (to_float) {
    if (is_unsigned) return b.create<arith::UIToFPOp>(l, storage, x);
    return b.create<arith::SIToFPOp>(l, storage, x);
  }
  if (to_bits < from_bits) return b.create<arith::TruncIOp>(l, storage, x);
  if (is_unsigned) return b.create<arith::ExtUIOp>(l, storage, x);
  return b.create<arith::ExtSIOp>(l, storage, x);
}

}  // namespace

// TD_ELEMENT(Op, expr): `x` is the operand's element, `t` its type.
#define TD_ELEMENT(Op, expr)                                                       \
  Value Op::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) { \
    mlir::OpBuilder& b = c.builder();                                              \
    [[maybe_unused]] mlir::Location l = c.loc();                                   \
    Value x = c.Operand(0, indices);                                               \
    [[maybe_unused]] mlir::Type t = x.getType();                                   \
    return expr;                                                                   \
  }

TD_ELEMENT(ExpOp, b.create<math::ExpOp>(l, x))
TD_ELEMENT(LogOp, b.create<math::LogOp>(l, x))
TD_ELEMENT(SqrtOp, b.create<math::SqrtOp>(l, x))
TD_ELEMENT(RsqrtOp, b.create<math::RsqrtOp>(l, x))
TD_ELEMENT(TanhOp, b.create<math::TanhOp>(l, x))
TD_ELEMENT(FloorOp, b.create<math::FloorOp>(l, x))
TD_ELEMENT(ReluOp, b.create<arith::MaximumFOp>(l, x, Number(b, l, t, 0)))
TD_ELEMENT(NotOp, b.create<arith::XOrIOp>(l, x, Number(b, l, t, 1)))
TD_ELEMENT(SigmoidOp, b.create<arith::DivFOp>(
                          l, Number(b, l, t, 1),
                          b.create<arith::AddFOp>(l, Number(b, l, t, 1),
                                                  b.create<math::ExpOp>(l, Value(b.create<arith::NegFOp>(l, x))))))
TD_ELEMENT(IsFiniteOp, b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OLT, Value(b.create<math::AbsFOp>(l, x)),
                                               Number(b, l, t, std::numeric_limits<double>::infinity())))
TD_ELEMENT(NegOp, mlir::isa<mlir::FloatType>(t) ? Value(b.create<arith::NegFOp>(l, x))
                                                : Value(b.create<arith::SubIOp>(l, Number(b, l, t, 0), x)))
TD_ELEMENT(AbsOp,
           mlir::isa<mlir::FloatType>(t) ? Value(b.create<math::AbsFOp>(l, x)) : Value(b.create<math::AbsIOp>(l, x)))
TD_ELEMENT(CastOp, CastElement(b, l, x, mlir::getElementTypeOrSelf(getInput().getType()),
                               mlir::getElementTypeOrSelf(getOutput().getType())))

#undef TD_ELEMENT

Value StopGradientOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  return c.Operand(0, indices);
}

Value SignOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  mlir::Location l = c.loc();
  Value x = c.Operand(0, indices);
  Value zero = Number(b, l, x.getType(), 0);
  Value one = Number(b, l, x.getType(), 1), minus_one = Number(b, l, x.getType(), -1);
  if (mlir::isa<mlir::FloatType>(x.getType())) {
    Value above = b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OGT, x, zero);
    Value below = b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OLT, x, zero);
    return b.create<arith::SelectOp>(l, above, one, Value(b.create<arith::SelectOp>(l, below, minus_one, x)));
  }
  Value above = b.create<arith::CmpIOp>(l, arith::CmpIPredicate::sgt, x, zero);
  Value below = b.create<arith::CmpIOp>(l, arith::CmpIPredicate::slt, x, zero);
  return b.create<arith::SelectOp>(l, above, one, Value(b.create<arith::SelectOp>(l, below, minus_one, zero)));
}

}  // namespace tandem::td
