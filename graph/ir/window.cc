#include "graph/ir/window.h"

namespace tandem::td {

namespace arith = mlir::arith;
using mlir::Value;

WindowGeometry GetWindowGeometry(mlir::Type image, mlir::Type output, llvm::ArrayRef<int64_t> window,
                                 llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low) {
  auto x = mlir::cast<mlir::RankedTensorType>(image), y = mlir::cast<mlir::RankedTensorType>(output);
  WindowGeometry g;
  for (int i = 0; i < 2; ++i) g.axes[i] = {x.getDimSize(1 + i), y.getDimSize(1 + i), window[i], strides[i], low[i]};
  return g;
}

Value WindowEmitter::Index(int64_t v) { return b_.create<arith::ConstantIndexOp>(l_, v); }
Value WindowEmitter::Float(mlir::Type t, double v) { return b_.create<arith::ConstantOp>(l_, b_.getFloatAttr(t, v)); }
Value WindowEmitter::Int(mlir::Type t, int64_t v) {
  return b_.create<arith::ConstantOp>(l_, b_.getIntegerAttr(t, llvm::APInt(t.getIntOrFloatBitWidth(), v, true)));
}
Value WindowEmitter::Select(Value condition, Value x, Value y) {
  return condition ? Value(b_.create<arith::SelectOp>(l_, condition, x, y)) : x;
}
Value WindowEmitter::And(Value x, Value y) {
  if (!x || !y) return x ? x : y;
  return b_.create<arith::AndIOp>(l_, x, y);
}
Value WindowEmitter::Compare(arith::CmpIPredicate p, Value x, Value y) { return b_.create<arith::CmpIOp>(l_, p, x, y); }
Value WindowEmitter::AtMost(Value x, int64_t limit) { return b_.create<arith::MinUIOp>(l_, x, Index(limit)); }
Value WindowEmitter::AddF(Value x, Value y) { return x ? Value(b_.create<arith::AddFOp>(l_, x, y)) : y; }
Value WindowEmitter::MulF(Value x, Value y) { return b_.create<arith::MulFOp>(l_, x, y); }

WindowPosition WindowEmitter::InImage(int axis, Value o, int64_t offset) {
  const WindowAxis& a = g_.axes[axis];
  Value at = o;
  if (a.stride != 1) at = b_.create<arith::MulIOp>(l_, at, Index(a.stride));
  if (offset != a.low) at = b_.create<arith::AddIOp>(l_, at, Index(offset - a.low));
  if (offset >= a.low && (a.out - 1) * a.stride + offset - a.low < a.in) return {at, {}};
  // As an unsigned number a negative index is large, so one comparison checks both bounds.
  Value inside = Compare(arith::CmpIPredicate::ult, at, Index(a.in));
  return {Select(inside, at, Index(0)), inside};
}

Value WindowEmitter::Tap(ElementalContext& c, unsigned operand, mlir::ValueRange at, int64_t ky, int64_t kx,
                         Value channel) {
  WindowPosition y = InImage(0, at[1], ky), x = InImage(1, at[2], kx);
  Value element = c.Operand(operand, {at[0], y.at, x.at, channel}), inside = And(y.inside, x.inside);
  return inside ? Select(inside, element, Float(element.getType(), 0)) : element;
}

int64_t WindowEmitter::Candidates(int axis) const {
  return (g_.axes[axis].window + g_.axes[axis].stride - 1) / g_.axes[axis].stride;
}

WindowPosition WindowEmitter::Candidate(int axis, Value i, int64_t t) {
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

Value WindowEmitter::Offset(int axis, Value i, int64_t t) {
  const WindowAxis& a = g_.axes[axis];
  Value offset = a.stride == 1 ? Index(0) : Value(b_.create<arith::RemUIOp>(l_, Shifted(axis, i), Index(a.stride)));
  return t == 0 ? offset : Value(b_.create<arith::AddIOp>(l_, offset, Index(t * a.stride)));
}

Value WindowEmitter::SumOverWindows(mlir::ValueRange indices, llvm::function_ref<Value(Value, Value, Value, Value)> f) {
  Value sum;
  for (int64_t ty = 0; ty < Candidates(0); ++ty) {
    for (int64_t tx = 0; tx < Candidates(1); ++tx) {
      WindowPosition oy = Candidate(0, indices[1], ty), ox = Candidate(1, indices[2], tx);
      Value v = f(oy.at, ox.at, Offset(0, indices[1], ty), Offset(1, indices[2], tx));
      sum = AddF(sum, Select(And(oy.inside, ox.inside), v, Float(v.getType(), 0)));
    }
  }
  return sum;
}

Value WindowEmitter::Place(Value ky, Value kx, mlir::Type t) {
  Value place = b_.create<arith::MulIOp>(l_, ky, Index(g_.axes[1].window));
  return b_.create<arith::IndexCastOp>(l_, t, Value(b_.create<arith::AddIOp>(l_, place, kx)));
}

Value WindowEmitter::Count(Value oy, Value ox, mlir::Type t) {
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
  Value n = b_.create<arith::IndexCastOp>(l_, b_.getI64Type(), Value(b_.create<arith::MulIOp>(l_, count[0], count[1])));
  return b_.create<arith::SIToFPOp>(l_, t, n);
}

Value WindowEmitter::Shifted(int axis, Value i) {
  return g_.axes[axis].low == 0 ? i : Value(b_.create<arith::AddIOp>(l_, i, Index(g_.axes[axis].low)));
}
Value WindowEmitter::Last(int axis, Value i) {
  Value shifted = Shifted(axis, i);
  return g_.axes[axis].stride == 1 ? shifted
                                   : Value(b_.create<arith::DivUIOp>(l_, shifted, Index(g_.axes[axis].stride)));
}

}  // namespace tandem::td
