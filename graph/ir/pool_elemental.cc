// Scalar code of pooling: windows are unrolled. What varies per element of the image (which windows cover it, what
// lies in the padding) is index arithmetic and selects, never a branch, so that loops over the channels vectorise.
#include <limits>

#include "graph/ir/pool.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem::td {

using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;

namespace {

// An index that is always in bounds, and whether it stands for what was asked for (null: always).
struct Position {
  Value at;
  Value inside;
};

class Emitter {
 public:
  Emitter(ElementalContext& c, const WindowGeometry& g) : c_(c), b_(c.builder()), l_(c.loc()), g_(g) {}

  Value Index(int64_t v) { return b_.create<arith::ConstantIndexOp>(l_, v); }
  Value Float(mlir::Type t, double v) { return b_.create<arith::ConstantOp>(l_, b_.getFloatAttr(t, v)); }
  Value Int(mlir::Type t, int64_t v) {
    return b_.create<arith::ConstantOp>(l_, b_.getIntegerAttr(t, llvm::APInt(t.getIntOrFloatBitWidth(), v, true)));
  }
  Value Select(Value condition, Value x, Value y) {
    return condition ? Value(b_.create<arith::SelectOp>(l_, condition, x, y)) : x;
  }
  Value And(Value x, Value y) {
    if (!x || !y) return x ? x : y;
    return b_.create<arith::AndIOp>(l_, x, y);
  }
  Value Compare(arith::CmpIPredicate p, Value x, Value y) { return b_.create<arith::CmpIOp>(l_, p, x, y); }
  Value AddF(Value x, Value y) { return x ? Value(b_.create<arith::AddFOp>(l_, x, y)) : y; }

  // The element of the image at offset `offset` of window `o`.
  Position InImage(int axis, Value o, int64_t offset) {
    const WindowAxis& a = g_.axes[axis];
    Value at = o;
    if (a.stride != 1) at = b_.create<arith::MulIOp>(l_, at, Index(a.stride));
    if (offset != a.low) at = b_.create<arith::AddIOp>(l_, at, Index(offset - a.low));
    if (offset >= a.low && (a.out - 1) * a.stride + offset - a.low < a.in) return {at, {}};
    // A negative index is a large one without its sign.
    Value inside = Compare(arith::CmpIPredicate::ult, at, Index(a.in));
    return {Select(inside, at, Index(0)), inside};
  }

  // Windows that may cover an element of the image, along one axis.
  int64_t Candidates(int axis) const {
    return (g_.axes[axis].window + g_.axes[axis].stride - 1) / g_.axes[axis].stride;
  }
  // The t-th of them, from the last: window (i + low) / stride - t.
  Position Candidate(int axis, Value i, int64_t t) {
    const WindowAxis& a = g_.axes[axis];
    Value o = Last(axis, i), inside;
    if (t > 0) {
      inside = Compare(arith::CmpIPredicate::uge, o, Index(t));
      o = b_.create<arith::SubIOp>(l_, o, Index(t));
    }
    if ((a.in - 1 + a.low) / a.stride - t >= a.out)
      inside = And(inside, Compare(arith::CmpIPredicate::slt, o, Index(a.out)));
    if ((t + 1) * a.stride > a.window)
      inside = And(inside, Compare(arith::CmpIPredicate::ult, Offset(axis, i, t), Index(a.window)));
    return {Select(inside, o, Index(0)), inside};
  }
  // Where element i of the image lies in that window.
  Value Offset(int axis, Value i, int64_t t) {
    const WindowAxis& a = g_.axes[axis];
    Value offset = a.stride == 1 ? Index(0) : Value(b_.create<arith::RemUIOp>(l_, Shifted(axis, i), Index(a.stride)));
    return t == 0 ? offset : Value(b_.create<arith::AddIOp>(l_, offset, Index(t * a.stride)));
  }

  // Calls f(candidate's row, candidate's column, offset in rows, offset in columns) and adds the results up.
  template <typename F>
  Value SumOverWindows(ValueRange indices, F f) {
    Value sum;
    for (int64_t ty = 0; ty < Candidates(0); ++ty) {
      for (int64_t tx = 0; tx < Candidates(1); ++tx) {
        Position oy = Candidate(0, indices[1], ty), ox = Candidate(1, indices[2], tx);
        Value v = f(oy.at, ox.at, Offset(0, indices[1], ty), Offset(1, indices[2], tx));
        sum = AddF(sum, Select(And(oy.inside, ox.inside), v, Float(v.getType(), 0)));
      }
    }
    return sum;
  }

  // The number in the window of its element (ky, kx), row-major, as an integer of type t.
  Value Place(Value ky, Value kx, mlir::Type t) {
    Value place = b_.create<arith::MulIOp>(l_, ky, Index(g_.axes[1].window));
    return b_.create<arith::IndexCastOp>(l_, t, Value(b_.create<arith::AddIOp>(l_, place, kx)));
  }

  // Elements of window (oy, ox) inside the image, as a number of type t.
  Value Count(Value oy, Value ox, mlir::Type t) {
    Value count[2];
    Value o[2] = {oy, ox};
    for (int i = 0; i < 2; ++i) {
      const WindowAxis& a = g_.axes[i];
      if (a.low == 0 && (a.out - 1) * a.stride + a.window <= a.in) {
        count[i] = Index(a.window);
        continue;
      }
      Value start = b_.create<arith::MulIOp>(l_, o[i], Index(a.stride));
      start = b_.create<arith::SubIOp>(l_, start, Index(a.low));
      Value end = b_.create<arith::AddIOp>(l_, start, Index(a.window));
      end = b_.create<arith::MinSIOp>(l_, end, Index(a.in));
      start = b_.create<arith::MaxSIOp>(l_, start, Index(0));
      count[i] = b_.create<arith::SubIOp>(l_, end, start);
    }
    Value n =
        b_.create<arith::IndexCastOp>(l_, b_.getI64Type(), Value(b_.create<arith::MulIOp>(l_, count[0], count[1])));
    return b_.create<arith::SIToFPOp>(l_, t, n);
  }

 private:
  Value Shifted(int axis, Value i) {
    return g_.axes[axis].low == 0 ? i : Value(b_.create<arith::AddIOp>(l_, i, Index(g_.axes[axis].low)));
  }
  Value Last(int axis, Value i) {
    Value shifted = Shifted(axis, i);
    return g_.axes[axis].stride == 1 ? shifted
                                     : Value(b_.create<arith::DivUIOp>(l_, shifted, Index(g_.axes[axis].stride)));
  }

  ElementalContext& c_;
  mlir::OpBuilder& b_;
  mlir::Location l_;
  WindowGeometry g_;
};

// Calls f(value, whether it is inside (null: always), flat offset in the window) for every element of window (oy, ox)
// of operand 0, in row-major order.
template <typename F>
void ForEachElement(Emitter& e, ElementalContext& c, const WindowGeometry& g, ValueRange indices, Value oy, Value ox,
                    F f) {
  for (int64_t jy = 0; jy < g.axes[0].window; ++jy) {
    for (int64_t jx = 0; jx < g.axes[1].window; ++jx) {
      Position y = e.InImage(0, oy, jy), x = e.InImage(1, ox, jx);
      Value v = c.Operand(0, {indices[0], y.at, x.at, indices[3]});
      f(v, e.And(y.inside, x.inside), jy * g.axes[1].window + jx);
    }
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The first largest value of a window and its number there.
struct Maximum {
  Value value, place;
};

// Numbers are integers of type t; `none` stands for no element so far.
Maximum FirstMaximum(Emitter& e, ElementalContext& c, const WindowGeometry& g, ValueRange indices, Value oy, Value ox,
                     mlir::Type t, int64_t none) {
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
    // An element of -inf, or a NaN, still comes before padding.
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
  Emitter e(c, g);
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
  Emitter e(c, g);
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
  Emitter e(c, g);
  Maximum first = FirstMaximum(e, c, g, indices, indices[1], indices[2], b.getI8Type(), kNoMaximum);
  if (!getPositive()) return first.place;
  Value positive =
      b.create<arith::CmpFOp>(c.loc(), arith::CmpFPredicate::OGT, first.value, e.Float(first.value.getType(), 0));
  return e.Select(positive, first.place, e.Int(b.getI8Type(), kNoMaximum));
}

Value MaxPoolArgmaxGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  Emitter e(c, g);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value ky, Value kx) -> Value {
    Value winner = c.Operand(0, {indices[0], oy, ox, indices[3]});
    Value is_self = e.Compare(arith::CmpIPredicate::eq, winner, e.Place(ky, kx, c.builder().getI8Type()));
    Value dy = c.Operand(1, {indices[0], oy, ox, indices[3]});
    return e.Select(is_self, dy, e.Float(dy.getType(), 0));
  });
}

Value AvgPoolOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow());
  Emitter e(c, g);
  Value sum;
  ForEachElement(e, c, g, indices, indices[1], indices[2], [&](Value v, Value inside, int64_t) {
    sum = e.AddF(sum, inside ? e.Select(inside, v, e.Float(v.getType(), 0)) : v);
  });
  return c.builder().create<arith::DivFOp>(c.loc(), sum, e.Count(indices[1], indices[2], sum.getType()));
}

Value AvgPoolGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  Emitter e(c, g);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value, Value) -> Value {
    Value dy = c.Operand(0, {indices[0], oy, ox, indices[3]});
    return c.builder().create<arith::DivFOp>(c.loc(), dy, e.Count(oy, ox, dy.getType()));
  });
}

}  // namespace tandem::td
