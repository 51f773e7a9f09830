#include "passes/codegen/gpu/expand_math.h"

#include <limits>
#include <vector>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// ln 2 in two parts; the first has 32 zero bits at its end, so that its product with an exponent is exact.
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

class Double {
 public:
  Double(mlir::OpBuilder& b, mlir::Location loc) : b_(b), loc_(loc) {}

  Value Exp(Value x) {
    Value n, scale_1, scale_2;
    Value q = Expm1Reduced(x, n, scale_1, scale_2);
    Value result = Mul(Mul(Add(q, C(1)), scale_1), scale_2);
    return Select(IsNaN(x), x, result);
  }

  // After fdlibm's e_log.c: log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 + f).
  Value Log(Value x) {
    Value tiny = Less(x, C(std::numeric_limits<double>::min()));
    Value normal = Select(tiny, Mul(x, C(0x1p54)), x);
    Value bits = b_.create<arith::BitcastOp>(loc_, I64(), normal);
    // The bits are shifted so that the mantissa is in [sqrt(1/2), sqrt(2)).
    Value moved = b_.create<arith::AddIOp>(loc_, bits, I(0x3ff0000000000000 - 0x3fe6a09e667f3bcd));
    Value exponent = b_.create<arith::ShRSIOp>(loc_, moved, I(52));
    Value k = b_.create<arith::SubIOp>(loc_, exponent, I(0x3ff));
    Value mantissa = b_.create<arith::SubIOp>(loc_, bits, b_.create<arith::ShLIOp>(loc_, k, I(52)));
    Value dk = b_.create<arith::SIToFPOp>(loc_, b_.getF64Type(), k);
    dk = Select(tiny, Sub(dk, C(54)), dk);
    Value f = Sub(b_.create<arith::BitcastOp>(loc_, b_.getF64Type(), mantissa), C(1));
    Value s = Div(f, Add(f, C(2))), z = Mul(s, s), half = Mul(C(0.5), Mul(f, f));
    Value r = Mul(z, Horner(z, {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                1.479819860511658591e-01}));
    Value low = Fma(s, Add(half, r), Mul(dk, C(kLn2Low)));
    Value result = Sub(Mul(dk, C(kLn2High)), Sub(Sub(half, low), f));
    result = Select(Compare(arith::CmpFPredicate::OEQ, x, C(kInfinity)), x, result);
    result = Select(Compare(arith::CmpFPredicate::OEQ, x, C(0)), C(-kInfinity), result);
    // The logarithm of negative numbers and NaN is NaN.
    return Select(Compare(arith::CmpFPredicate::OGE, x, C(0)), result, C(std::numeric_limits<double>::quiet_NaN()));
  }

  Value Pow(Value x, Value y) {
    Value result = Exp(Mul(y, Log(Abs(x))));
    Value whole = Compare(arith::CmpFPredicate::OEQ, Floor(y), y);
    Value half = Mul(y, C(0.5));
    Value odd = b_.create<arith::AndIOp>(loc_, whole, Compare(arith::CmpFPredicate::UNE, Floor(half), half));
    // Powers of negative numbers are defined for whole y; those of -infinity always are, infinity or 0.
    Value defined = b_.create<arith::OrIOp>(loc_, whole, Compare(arith::CmpFPredicate::OEQ, x, C(-kInfinity)));
    Value negative = Select(odd, Neg(result), Select(defined, result, C(std::numeric_limits<double>::quiet_NaN())));
    result = Select(Less(x, C(0)), negative, result);
    Value one = b_.create<arith::OrIOp>(loc_, Compare(arith::CmpFPredicate::OEQ, y, C(0)),
                                        Compare(arith::CmpFPredicate::OEQ, x, C(1)));
    return Select(one, C(1), result);
  }

  // Returns tanh x = -e / (e + 2) with e = exp(-2 |x|) - 1, with the sign of x.
  Value Tanh(Value x) {
    Value n, scale_1, scale_2;
    Value q = Expm1Reduced(Mul(Abs(x), C(-2)), n, scale_1, scale_2);
    Value scale = Mul(scale_1, scale_2);
    Value e = Fma(scale, q, Sub(scale, C(1)));
    Value t = Div(Neg(e), Add(e, C(2)));
    t = Select(Less(x, C(0)), Neg(t), t);
    return Select(Compare(arith::CmpFPredicate::UEQ, x, C(0)), x, t);  // -0 and NaN stay what they are
  }

  // After fdlibm's s_erf.c: rational functions on four intervals.
  Value Erf(Value x) {
    Value a = Abs(x);
    Value z = Mul(x, x);
    Value near = Div(Horner(z, {1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
                                -5.77027029648944159157e-03, -2.37630166566501626084e-05}),
                     Horner(z, {1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
                                1.32494738004321644526e-04, -3.96022827877536812320e-06}));
    near = Fma(a, near, a);
    Value s = Sub(a, C(1));
    Value middle = Div(Horner(s, {-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
                                  3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                                  -2.16637559486879084300e-03}),
                       Horner(s, {1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
                                  1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02}));
    middle = Add(C(8.45062911510467529297e-01), middle);
    Value i = Div(C(1), z);
    Value far_1 = Div(Horner(i, {-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
                                 -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                                 -8.12874355063065934246e+01, -9.81432934416914548592e+00}),
                      Horner(i, {1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
                                 6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
                                 6.57024977031928170135e+00, -6.04244152148580987438e-02}));
    Value far_2 = Div(Horner(i, {-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
                                 -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                                 -4.83519191608651397019e+02}),
                      Horner(i, {1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
                                 3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
                                 -2.24409524465858183362e+01}));
    Value far = Select(Less(a, C(1 / 0.35)), far_1, far_2);
    far = Sub(C(1), Div(Exp(Add(Sub(C(-0.5625), z), far)), a));
    Value result =
        Select(Less(a, C(0.84375)), near, Select(Less(a, C(1.25)), middle, Select(Less(a, C(6)), far, C(1))));
    result = Select(Less(x, C(0)), Neg(result), result);
    return Select(Compare(arith::CmpFPredicate::UEQ, x, C(0)), x, result);
  }

 private:
  mlir::Type I64() { return b_.getI64Type(); }
  Value C(double v) { return b_.create<arith::ConstantOp>(loc_, b_.getF64FloatAttr(v)); }
  Value I(int64_t v) { return b_.create<arith::ConstantOp>(loc_, b_.getI64IntegerAttr(v)); }
  Value Add(Value x, Value y) { return b_.create<arith::AddFOp>(loc_, x, y); }
  Value Sub(Value x, Value y) { return b_.create<arith::SubFOp>(loc_, x, y); }
  Value Mul(Value x, Value y) { return b_.create<arith::MulFOp>(loc_, x, y); }
  Value Div(Value x, Value y) { return b_.create<arith::DivFOp>(loc_, x, y); }
  Value Neg(Value x) { return b_.create<arith::NegFOp>(loc_, x); }
  Value Abs(Value x) { return b_.create<math::AbsFOp>(loc_, x); }
  Value Floor(Value x) { return b_.create<math::FloorOp>(loc_, x); }
  Value Fma(Value x, Value y, Value z) { return b_.create<math::FmaOp>(loc_, x, y, z); }
  Value Compare(arith::CmpFPredicate p, Value x, Value y) { return b_.create<arith::CmpFOp>(loc_, p, x, y); }
  Value Less(Value x, Value y) { return Compare(arith::CmpFPredicate::OLT, x, y); }
  Value IsNaN(Value x) { return Compare(arith::CmpFPredicate::UNO, x, x); }
  Value Select(Value c, Value x, Value y) { return b_.create<arith::SelectOp>(loc_, c, x, y); }

  // Returns c[0] + x (c[1] + x (...)).
  Value Horner(Value x, const std::vector<double>& c) {
    Value v = C(c.back());
    for (size_t i = c.size() - 1; i-- > 0;) v = Fma(v, x, C(c[i]));
    return v;
  }

  // Returns q = exp(r) - 1 with x = n ln 2 + r, |r| <= ln 2 / 2, and sets scale_1 scale_2 = 2^n. For NaN the result is
  // arbitrary.
  Value Expm1Reduced(Value x, Value& n, Value& scale_1, Value& scale_2) {
    // Beyond these limits the result is 0 or infinity.
    x = Select(Compare(arith::CmpFPredicate::OGT, x, C(-760)), x, C(-760));
    x = Select(Less(x, C(760)), x, C(760));
    n = Floor(Fma(x, C(1.44269504088896338700e+00), C(0.5)));
    Value r = Fma(n, C(-kLn2Low), Fma(n, C(-kLn2High), x));
    std::vector<double> taylor;  // coefficients of (exp(r) - 1 - r) / r^2
    double factorial = 1;
    for (int k = 2; k <= 14; ++k) taylor.push_back(1 / (factorial *= k));
    Value q = Fma(Mul(r, r), Horner(r, taylor), r);
    // There are two factors because 2^n alone may be no normal number.
    Value whole = b_.create<arith::FPToSIOp>(loc_, I64(), n);
    Value half = b_.create<arith::ShRSIOp>(loc_, whole, I(1));
    scale_1 = PowerOfTwo(half);
    scale_2 = PowerOfTwo(b_.create<arith::SubIOp>(loc_, whole, half));
    return q;
  }
  Value PowerOfTwo(Value n) {
    Value bits = b_.create<arith::ShLIOp>(loc_, b_.create<arith::AddIOp>(loc_, n, I(1023)), I(52));
    return b_.create<arith::BitcastOp>(loc_, b_.getF64Type(), bits);
  }

  mlir::OpBuilder& b_;
  mlir::Location loc_;
};

void ExpandExtrema(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> ops;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<arith::MaximumFOp, arith::MinimumFOp>(op)) ops.push_back(op);
  });
  for (mlir::Operation* op : ops) {
    mlir::OpBuilder b(op);
    mlir::Location loc = op->getLoc();
    Value x = op->getOperand(0), y = op->getOperand(1);
    Value extremum = mlir::isa<arith::MaximumFOp>(op) ? b.create<arith::MaxNumFOp>(loc, x, y).getResult()
                                                      : b.create<arith::MinNumFOp>(loc, x, y).getResult();
    Value nan = b.create<arith::ConstantOp>(
        loc, b.getFloatAttr(x.getType(),
                            llvm::APFloat::getNaN(mlir::cast<mlir::FloatType>(x.getType()).getFloatSemantics())));
    Value unordered = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, x, y);
    Value result = b.create<arith::SelectOp>(loc, unordered, nan, extremum);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

// Returns erf(x) in float32 without a division, which takes ten instructions on a GPU: x + x P(x^2) below 1, and 1 -
// exp(-x Q(x)) from there on. P and Q are polynomials of the fifth degree whose largest relative error in erf is the
// smallest possible (4e-8 and 3e-9).
Value ErfOfFloat(mlir::OpBuilder& b, mlir::Location loc, Value x) {
  auto number = [&](double v) -> Value { return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(v)); };
  auto horner = [&](Value at, const std::vector<double>& c) {
    Value v = number(c.back());
    for (size_t i = c.size() - 1; i-- > 0;) v = b.create<math::FmaOp>(loc, v, at, number(c[i]));
    return v;
  };
  Value square = b.create<arith::MulFOp>(loc, x, x);
  Value p = horner(square, {0.12837912142276764, -0.37612324953079224, 0.11280180513858795, -0.026711316779255867,
                            0.004917556885629892, -0.0005631441599689424});
  Value near = b.create<math::FmaOp>(loc, x, p, x);
  Value size = b.create<math::AbsFOp>(loc, x);
  // In float32 erf is 1 from 4 on.
  Value t = b.create<arith::MinNumFOp>(loc, size, number(4));
  Value q = horner(t, {1.128480076789856, 0.6358314752578735, 0.1051161140203476, -0.02279844507575035,
                       0.003186941146850586, -0.00021064253814984113});
  Value tail = b.create<math::ExpOp>(loc, b.create<arith::NegFOp>(loc, b.create<arith::MulFOp>(loc, t, q)));
  Value far = b.create<math::CopySignOp>(loc, b.create<arith::SubFOp>(loc, number(1), tail), x);
  Value is_far = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, size, number(1));
  return b.create<arith::SelectOp>(loc, is_far, far, near);
}

}  // namespace

void ExpandMath(mlir::ModuleOp module, bool precise) {
  ExpandExtrema(module);
  llvm::SmallVector<math::ErfOp> erfs;
  module.walk([&](math::ErfOp op) {
    if (op.getType().isF32() && !precise) erfs.push_back(op);
  });
  for (math::ErfOp op : erfs) {
    mlir::OpBuilder b(op);
    op.replaceAllUsesWith(ErfOfFloat(b, op.getLoc(), op.getOperand()));
    op.erase();
  }
  llvm::SmallVector<mlir::Operation*> ops;
  module.walk([&](mlir::Operation* op) {
    if (!mlir::isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp, math::PowFOp>(op)) return;
    mlir::Type type = op->getResult(0).getType();
    if (type.isF64() || (type.isF32() && (precise || mlir::isa<math::PowFOp>(op)))) ops.push_back(op);
  });
  for (mlir::Operation* op : ops) {
    mlir::OpBuilder b(op);
    mlir::Location loc = op->getLoc();
    mlir::Type type = op->getResult(0).getType();
    std::vector<Value> x;
    for (Value operand : op->getOperands()) {
      x.push_back(type.isF64() ? operand : b.create<arith::ExtFOp>(loc, b.getF64Type(), operand).getResult());
    }
    Double d(b, loc);
    Value result = mlir::isa<math::ExpOp>(op)    ? d.Exp(x[0])
                   : mlir::isa<math::LogOp>(op)  ? d.Log(x[0])
                   : mlir::isa<math::TanhOp>(op) ? d.Tanh(x[0])
                   : mlir::isa<math::ErfOp>(op)  ? d.Erf(x[0])
                                                 : d.Pow(x[0], x[1]);
    if (!type.isF64()) result = b.create<arith::TruncFOp>(loc, type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

}  // namespace tandem
