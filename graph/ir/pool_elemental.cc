// Generates scalar code for pooling: windows are unrolled.
#include <limits>

#include "graph/ir/pool.h"

namespace tandem::td {

using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;

namespace {

// Calls f(value, condition that the element is inside the image (null: always), flat offset in the window) for every
// element of window (oy, ox) of operand 0, in row-major order.
template <typename F>
void ForEachElement(WindowEmitter& e, ElementalContext& c, const WindowGeometry& g, ValueRange indices, Value oy,
                    Value ox, F f) {
  for (int64_t jy = 0; jy < g.axes[0].window; ++jy) {
    for (int64_t jx = 0; jx < g.axes[1].window; ++jx) {
      WindowPosition y = e.InImage(0, oy, jy), x = e.InImage(1, ox, jx);
      Value v = c.Operand(0, {indices[0], y.at, x.at, indices[3]});
      f(v, e.And(y.inside, x.inside), jy * g.axes[1].window + jx);
    }
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The first of the largest values of a window, and its number in the window.
struct Maximum {
  Value value, place;
};

// Returns the first of the largest values of a window. `t`: the integer type of its place. `none`: the place where the
// window has no element in the image.
Maximum FirstMaximum(WindowEmitter& e, ElementalContext& c, const WindowGeometry& g, ValueRange indices, Value oy,
                     Value ox, mlir::Type t, int64_t none) {
  mlir::OpBuilder& b = c.builder();
  Maximum first;
  bool maybe_none = false;
  ForEachElement(e, c, g, indices, oy, ox, [&](Value v, Value inside, int64_t j) {
    if (!first.value && !inside) {
      first = {v, e.Int(t, j)};
      return;
    }
    if (!first.value) {
      first = {e.Float(v.getType(), -kInfinity), e.Int(t, none)};
      maybe_none = true;
    }
    Value wins = b.create<arith::CmpFOp>(c.loc(), arith::CmpFPredicate::OGT, v, first.value);
    // The first element in the image replaces `none` even if it is -inf or NaN.
    if (maybe_none) {
      Value is_none = e.Compare(arith::CmpIPredicate::eq, first.place, e.Int(t, none));
      wins = b.create<arith::OrIOp>(c.loc(), wins, is_none);
    }
    wins = e.And(inside, wins);
    maybe_none &= inside != nullptr;
    first = {e.Select(wins, v, first.value), e.Select(wins, e.Int(t, j), first.place)};
  });
  return first;
}

}  // namespace

Value MaxPoolOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  Value best;
  ForEachElement(e, c, g, indices, indices[1], indices[2], [&](Value v, Value inside, int64_t) {
    if (inside) v = e.Select(inside, v, e.Float(v.getType(), -kInfinity));
    best = best ? Value(c.builder().create<arith::MaximumFOp>(c.loc(), best, v)) : v;
  });
  return best;
}

Value MaxPoolGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value ky, Value kx) -> Value {
    Value winner = FirstMaximum(e, c, g, indices, oy, ox, b.getI32Type(), -1).place;
    Value is_self = e.Compare(arith::CmpIPredicate::eq, winner, e.Place(ky, kx, b.getI32Type()));
    Value dy = c.Operand(1, {indices[0], oy, ox, indices[3]});
    return e.Select(is_self, dy, e.Float(dy.getType(), 0));
  });
}

Value MaxPoolArgmaxOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  WindowGeometry g = GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  Maximum first = FirstMaximum(e, c, g, indices, indices[1], indices[2], b.getI8Type(), kNoMaximum);
  if (!getPositive()) return first.place;
  Value positive =
      b.create<arith::CmpFOp>(c.loc(), arith::CmpFPredicate::OGT, first.value, e.Float(first.value.getType(), 0));
  return e.Select(positive, first.place, e.Int(b.getI8Type(), kNoMaximum));
}

Value MaxPoolArgmaxGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value ky, Value kx) -> Value {
    Value winner = c.Operand(0, {indices[0], oy, ox, indices[3]});
    Value is_self = e.Compare(arith::CmpIPredicate::eq, winner, e.Place(ky, kx, c.builder().getI8Type()));
    Value dy = c.Operand(1, {indices[0], oy, ox, indices[3]});
    return e.Select(is_self, dy, e.Float(dy.getType(), 0));
  });
}

Value AvgPoolOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  Value sum;
  ForEachElement(e, c, g, indices, indices[1], indices[2], [&](Value v, Value inside, int64_t) {
    sum = e.AddF(sum, inside ? e.Select(inside, v, e.Float(v.getType(), 0)) : v);
  });
  return c.builder().create<arith::DivFOp>(c.loc(), sum, e.Count(indices[1], indices[2], sum.getType()));
}

Value AvgPoolGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  WindowEmitter e(c, g);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value, Value) -> Value {
    Value dy = c.Operand(0, {indices[0], oy, ox, indices[3]});
    return c.builder().create<arith::DivFOp>(c.loc(), dy, e.Count(oy, ox, dy.getType()));
  });
}

}  // namespace tandem::td
