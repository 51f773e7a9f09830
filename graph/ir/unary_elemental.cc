// Generates scalar code for the elementwise ops with one operand.
#include <initializer_list>
#include <limits>
#include <numbers>

#include "graph/ir/register_type.h"
#include "graph/ir/unary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tandem::td {

using mlir::Value;
namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

// Converts an element in a register, where uint8 is a signless i8 and bfloat16 a float32. `from` and `to` are the
// element types of the tensors. The kernel emitter rounds results to bfloat16.
Value CastElement(mlir::OpBuilder& b, mlir::Location l, Value x, mlir::Type from, mlir::Type to) {
  bool is_unsigned = from.isUnsignedInteger() || from.isInteger(1);
  mlir::Type storage = RegisterType(to);
  if (x.getType() == storage) return x;
  bool from_float = mlir::isa<mlir::FloatType>(from), to_float = mlir::isa<mlir::FloatType>(to);
  if (to.isInteger(1)) {
    Value zero = RegisterNumber(b, l, x.getType(), 0);
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

// Returns sin(x + quadrants pi/2), with arithmetic in double: kernels are vectorised, and no target needs a library for
// it. x = n pi/2 + r, with pi/2 in three parts (Cody and Waite, Software Manual for the Elementary Functions, chapter
// 8); polynomials of r from fdlibm's k_sin.c and k_cos.c.
Value Sine(mlir::OpBuilder& b, mlir::Location l, Value operand, int quadrants) {
  const mlir::Type type = operand.getType(), f64 = b.getF64Type();
  const auto number = [&](double v) { return RegisterNumber(b, l, f64, v); };
  const auto mul = [&](Value x, Value y) -> Value { return b.create<arith::MulFOp>(l, x, y); };
  const auto fma = [&](Value x, Value y, Value z) -> Value { return b.create<math::FmaOp>(l, x, y, z); };
  const auto horner = [&](Value x, std::initializer_list<double> highest_first) {
    Value v;
    for (double c : highest_first) v = v ? fma(v, x, number(c)) : number(c);
    return v;
  };
  // Returns half of a whole number, rounded down; `odd` becomes true if it is odd.
  const auto half = [&](Value whole, Value& odd) -> Value {
    const Value exact = mul(whole, number(0.5));
    const Value floor = b.create<math::FloorOp>(l, exact);
    odd = b.create<arith::CmpFOp>(l, arith::CmpFPredicate::ONE, exact, floor);
    return floor;
  };

  const Value x = type.isF64() ? operand : Value(b.create<arith::ExtFOp>(l, f64, operand));
  const Value n = b.create<math::RoundEvenOp>(l, mul(x, number(2 / std::numbers::pi)));
  Value r = x;
  for (double part : {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}) {
    r = fma(n, number(-part), r);
  }
  // r is in this range already, unless x is so large that n is not exact.
  r = b.create<arith::MinimumFOp>(l, b.create<arith::MaximumFOp>(l, r, number(-1)), number(1));
  const Value z = mul(r, r);
  const Value sine =
      fma(mul(z, r),
          horner(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                     -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01}),
          r);
  const Value cosine =
      fma(z,
          horner(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                     2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02, -0.5}),
          number(1));
  Value odd, negative;
  const Value turns = half(b.create<arith::AddFOp>(l, n, number(quadrants)), odd);
  half(turns, negative);
  Value y = b.create<arith::SelectOp>(l, odd, cosine, sine);
  y = b.create<arith::SelectOp>(l, negative, Value(b.create<arith::NegFOp>(l, y)), y);
  return type.isF64() ? y : Value(b.create<arith::TruncFOp>(l, type, y));
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
TD_ELEMENT(SinOp, Sine(b, l, x, 0))
TD_ELEMENT(CosOp, Sine(b, l, x, 1))
TD_ELEMENT(FloorOp, b.create<math::FloorOp>(l, x))
TD_ELEMENT(ReluOp, b.create<arith::MaximumFOp>(l, x, RegisterNumber(b, l, t, 0)))
TD_ELEMENT(NotOp, b.create<arith::XOrIOp>(l, x, RegisterNumber(b, l, t, 1)))
TD_ELEMENT(SigmoidOp, b.create<arith::DivFOp>(
                          l, RegisterNumber(b, l, t, 1),
                          b.create<arith::AddFOp>(l, RegisterNumber(b, l, t, 1),
                                                  b.create<math::ExpOp>(l, Value(b.create<arith::NegFOp>(l, x))))))
TD_ELEMENT(IsFiniteOp, b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OLT, Value(b.create<math::AbsFOp>(l, x)),
                                               RegisterNumber(b, l, t, std::numeric_limits<double>::infinity())))
TD_ELEMENT(NegOp, mlir::isa<mlir::FloatType>(t) ? Value(b.create<arith::NegFOp>(l, x))
                                                : Value(b.create<arith::SubIOp>(l, RegisterNumber(b, l, t, 0), x)))
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
  Value zero = RegisterNumber(b, l, x.getType(), 0);
  Value one = RegisterNumber(b, l, x.getType(), 1), minus_one = RegisterNumber(b, l, x.getType(), -1);
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
