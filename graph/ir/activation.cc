#include "graph/ir/activation.h"

#include <cmath>
#include <numbers>

#include "graph/ir/build.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tandem::td {
namespace {

// Constants of the tanh form: tanh(kScale (x + kCube x^3)).
const double kScale = std::sqrt(2 / std::numbers::pi), kCube = 0.044715;

double Gelu(double x, bool approximate) {
  double cdf = approximate ? std::tanh(kScale * (x + kCube * x * x * x)) : std::erf(x / std::numbers::sqrt2);
  return 0.5 * x * (1 + cdf);
}

double GeluSlope(double x, bool approximate) {
  if (!approximate) {
    const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
  }
  const double t = std::tanh(kScale * (x + kCube * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kScale * (1 + 3 * kCube * x * x);
}

}  // namespace
}  // namespace tandem::td

#define GET_OP_CLASSES
#include "graph/ir/activation.cc.inc"

namespace tandem::td {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
namespace arith = mlir::arith;
namespace math = mlir::math;

void TdDialect::registerActivationOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/activation.cc.inc"
      >();
}

namespace {

Value Like(OpBuilder& b, Location l, Value x, double v) {
  return b.create<arith::ConstantOp>(l, b.getFloatAttr(x.getType(), v));
}

Value BuildTanh(OpBuilder& b, Location l, Value x) {
  mlir::OperationState state(l, "td.tanh");
  state.addOperands(x);
  state.addTypes(x.getType());
  return b.create(state)->getResult(0);
}

}  // namespace

// d erf = 2 / sqrt(pi) exp(-x^2)
llvm::LogicalResult ErfOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  Location l = getLoc();
  Value x = getInput(), bell = BuildExp(b, l, BuildNeg(b, l, BuildMul(b, l, x, x)));
  operand_grads[0] = BuildMul(b, l, grads[0], BuildMul(b, l, bell, 2 * std::numbers::inv_sqrtpi));
  return mlir::success();
}

Value ErfOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  return c.builder().create<math::ErfOp>(c.loc(), c.Operand(0, indices));
}

llvm::LogicalResult GeluOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                          llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<GeluGradOp>(getLoc(), grads[0], getInput(), getApproximate());
  return mlir::success();
}

Value GeluOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  OpBuilder& b = c.builder();
  Location l = c.loc();
  Value x = c.Operand(0, indices);
  auto mul = [&](Value p, Value q) -> Value { return b.create<arith::MulFOp>(l, p, q); };
  auto add = [&](Value p, Value q) -> Value { return b.create<arith::AddFOp>(l, p, q); };
  Value one = Like(b, l, x, 1), cdf;
  if (getApproximate()) {
    Value inner = mul(x, add(mul(mul(x, x), Like(b, l, x, kCube)), one));
    cdf = b.create<math::TanhOp>(l, mul(inner, Like(b, l, x, kScale)));
  } else {
    cdf = b.create<math::ErfOp>(l, mul(x, Like(b, l, x, 1 / std::numbers::sqrt2)));
  }
  return mul(mul(x, Like(b, l, x, 0.5)), add(cdf, one));
}

// The op is linear in dy. The derivative of the slope at x is
//   in the tanh form: (1 - t^2) (u' + x/2 (u'' - 2 t u'^2)), u = kScale (x + kCube x^3), t = tanh(u)
//   else: (2 - x^2) times the normal density.
llvm::LogicalResult GeluGradOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                              llvm::SmallVectorImpl<Value>& operand_grads) {
  Location l = getLoc();
  Value x = getInput(), square = BuildMul(b, l, x, x), bend;
  if (getApproximate()) {
    Value inner = BuildMul(b, l, x, BuildAdd(b, l, BuildMul(b, l, square, kCube), 1));
    Value t = BuildTanh(b, l, BuildMul(b, l, inner, kScale));
    Value rest = BuildAdd(b, l, BuildNeg(b, l, BuildMul(b, l, t, t)), 1);
    Value first = BuildMul(b, l, BuildAdd(b, l, BuildMul(b, l, square, 3 * kCube), 1), kScale);
    Value second = BuildMul(b, l, x, 6 * kCube * kScale);
    Value curve = BuildSub(b, l, second, BuildMul(b, l, BuildMul(b, l, t, BuildMul(b, l, first, first)), 2));
    bend = BuildMul(b, l, rest, BuildAdd(b, l, first, BuildMul(b, l, BuildMul(b, l, x, curve), 0.5)));
  } else {
    Value density =
        BuildMul(b, l, BuildExp(b, l, BuildMul(b, l, square, -0.5)), std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    bend = BuildMul(b, l, BuildAdd(b, l, BuildNeg(b, l, square), 2), density);
  }
  operand_grads[0] = b.create<GeluGradOp>(l, grads[0], x, getApproximate());
  operand_grads[1] = BuildMul(b, l, BuildMul(b, l, grads[0], getDy()), bend);
  return mlir::success();
}

Value GeluGradOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  OpBuilder& b = c.builder();
  Location l = c.loc();
  Value dy = c.Operand(0, indices), x = c.Operand(1, indices);
  auto mul = [&](Value p, Value q) -> Value { return b.create<arith::MulFOp>(l, p, q); };
  auto add = [&](Value p, Value q) -> Value { return b.create<arith::AddFOp>(l, p, q); };
  auto number = [&](double v) { return Like(b, l, x, v); };
  Value square = mul(x, x), slope;
  if (getApproximate()) {
    // Limits the square: 1 - t^2 is 0 long before, and times an infinite square it would be NaN.
    Value most = number(1e30), fits = b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OLT, square, most);
    square = b.create<arith::SelectOp>(l, fits, square, most);
    // The slope is 1/2 (1 + t) + x/2 (1 - t^2) kScale (1 + 3 kCube x^2), t = tanh(kScale x (1 + kCube x^2)).
    Value inner = mul(x, add(mul(square, number(kCube)), number(1)));
    Value t = b.create<math::TanhOp>(l, mul(inner, number(kScale)));
    Value rest = add(b.create<arith::NegFOp>(l, mul(t, t)), number(1));
    Value dinner = mul(add(mul(square, number(3 * kCube)), number(1)), number(0.5 * kScale));
    slope = add(mul(add(t, number(1)), number(0.5)), mul(mul(x, rest), dinner));
  } else {
    // The slope is the distribution function plus x times the density.
    Value erf = b.create<math::ErfOp>(l, mul(x, number(1 / std::numbers::sqrt2)));
    Value bell = b.create<math::ExpOp>(l, mul(square, number(-0.5)));
    Value density = mul(bell, number(std::numbers::inv_sqrtpi / std::numbers::sqrt2));
    slope = add(mul(add(erf, number(1)), number(0.5)), mul(x, density));
  }
  return mul(dy, slope);
}

}  // namespace tandem::td
