// Index maps of the ops that move elements. They have no branches: if an element has no source, the index is clamped
// and the value selected, so that loops stay vectorisable.
#include "graph/ir/register_type.h"
#include "graph/ir/shape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem::td {

using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;
using Indices = llvm::SmallVector<Value>;

namespace {

struct Emit {
  explicit Emit(ElementalContext& c) : b(c.builder()), l(c.loc()) {}
  Value Index(int64_t i) { return b.create<arith::ConstantIndexOp>(l, i); }
  Value Add(Value x, int64_t y) { return y == 0 ? x : Value(b.create<arith::AddIOp>(l, x, Index(y))); }
  Value Number(mlir::Type t, double v) { return RegisterNumber(b, l, t, v); }
  Value Compare(arith::CmpIPredicate p, Value x, Value y) { return b.create<arith::CmpIOp>(l, p, x, y); }
  Value Clamp(Value x, int64_t size) {
    Value low = b.create<arith::MaxSIOp>(l, x, Index(0));
    return b.create<arith::MinSIOp>(l, low, Index(size - 1));
  }
  Value Select(Value c, Value x, Value y) { return b.create<arith::SelectOp>(l, c, x, y); }
  Value FromIndex(Value i, mlir::Type t) {
    if (!mlir::isa<mlir::FloatType>(t)) return b.create<arith::IndexCastOp>(l, t, i);
    return b.create<arith::SIToFPOp>(l, RegisterType(t), Value(b.create<arith::IndexCastOp>(l, b.getI64Type(), i)));
  }
  mlir::OpBuilder& b;
  mlir::Location l;
};

}  // namespace

// Constants of many different numbers are operands of kernels (FusionClusters), so here a constant has few, and the
// code selects among them.
Value ConstantOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  auto elements = mlir::cast<mlir::DenseElementsAttr>(getValue());
  mlir::Type t = elements.getElementType();
  auto scalar = [&](mlir::Attribute v) -> Value {
    if (t.isUnsignedInteger())
      v = e.b.getIntegerAttr(e.b.getIntegerType(t.getIntOrFloatBitWidth()),
                             mlir::cast<mlir::IntegerAttr>(v).getValue());
    if (t.isBF16()) v = e.b.getF32FloatAttr(mlir::cast<mlir::FloatAttr>(v).getValueAsDouble());
    return e.b.create<arith::ConstantOp>(e.l, mlir::cast<mlir::TypedAttr>(v));
  };
  if (elements.isSplat()) return scalar(elements.getSplatValue<mlir::Attribute>());
  Value at = e.Index(0);
  for (auto [index, size] : llvm::zip(indices, elements.getType().getShape())) {
    at = e.b.create<arith::MulIOp>(e.l, at, e.Index(size));
    at = e.b.create<arith::AddIOp>(e.l, at, index);
  }
  Value result;
  for (auto [i, v] : llvm::enumerate(elements.getValues<mlir::Attribute>())) {
    Value element = scalar(v);
    result = result
                 ? e.Select(e.Compare(arith::CmpIPredicate::eq, at, e.Index(static_cast<int64_t>(i))), element, result)
                 : element;
  }
  return result;
}

Value IotaOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  int64_t axis = getAxis();
  Value i = indices[axis];
  if (axis == 0 && IsBatched(getOutput().getType())) i = e.b.create<arith::AddIOp>(e.l, i, c.RowOffset());
  return e.FromIndex(i, TypeOf(getOutput()).getElementType());
}

Value BroadcastOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Indices at;
  for (int64_t d : getDims()) at.push_back(indices[d]);
  return c.Operand(0, at);
}

// Splits both shapes into groups of dimensions with equal products. A group with one dimension on both sides (not
// counting ones) passes its index through without a division.
Value ReshapeOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  llvm::ArrayRef<int64_t> in = TypeOf(getInput()).getShape(), out = TypeOf(getOutput()).getShape();
  Indices at(in.size());
  size_t i = 0, j = 0;
  if (IsBatched(getInput().getType())) at[i++] = indices[j++];
  while (i < in.size() || j < out.size()) {
    size_t i0 = i, j0 = j;
    int64_t n = i < in.size() ? in[i++] : 1, m = j < out.size() ? out[j++] : 1;
    while (n != m) {
      if (n < m) {
        n *= in[i++];
      } else {
        m *= out[j++];
      }
    }
    llvm::SmallVector<size_t> wide_in, wide_out;
    for (size_t k = i0; k < i; ++k) {
      if (in[k] != 1) wide_in.push_back(k);
    }
    for (size_t k = j0; k < j; ++k) {
      if (out[k] != 1) wide_out.push_back(k);
    }
    Value linear;
    for (size_t k : wide_out) {
      linear = linear ? Value(e.b.create<arith::AddIOp>(
                            e.l, Value(e.b.create<arith::MulIOp>(e.l, linear, e.Index(out[k]))), indices[k]))
                      : indices[k];
    }
    for (size_t k = i0; k < i; ++k) at[k] = in[k] == 1 ? e.Index(0) : Value();
    for (size_t w = wide_in.size(); w-- > 0;) {
      Value size = e.Index(in[wide_in[w]]);
      at[wide_in[w]] = w == 0 ? linear : Value(e.b.create<arith::RemUIOp>(e.l, linear, size));
      if (w > 0) linear = e.b.create<arith::DivUIOp>(e.l, linear, size);
    }
  }
  return c.Operand(0, at);
}

Value TransposeOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Indices at(indices.size());
  for (auto [d, p] : llvm::enumerate(getPermutation())) at[p] = indices[d];
  return c.Operand(0, at);
}

Value SliceOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  Indices at;
  for (auto [index, begin] : llvm::zip(indices, getBegin())) at.push_back(e.Add(index, begin));
  return c.Operand(0, at);
}

Value PadOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  auto type = TypeOf(getInput());
  Indices at;
  Value inside;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (getLow()[d] == 0 && getHigh()[d] == 0) {
      at.push_back(indices[d]);
      continue;
    }
    // As an unsigned number a negative index is large, so one comparison checks both bounds.
    Value i = e.Add(indices[d], -getLow()[d]);
    Value ok = e.Compare(arith::CmpIPredicate::ult, i, e.Index(type.getDimSize(d)));
    inside = inside ? Value(e.b.create<arith::AndIOp>(e.l, inside, ok)) : ok;
    at.push_back(e.Clamp(i, type.getDimSize(d)));
  }
  Value x = c.Operand(0, at);
  return inside ? e.Select(inside, x, e.Number(type.getElementType(), getValue().convertToDouble())) : x;
}

Value ConcatOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  int64_t axis = getAxis(), offset = 0;
  Value result;
  for (auto [k, input] : llvm::enumerate(getInputs())) {
    int64_t size = TypeOf(input).getDimSize(axis);
    Indices at(indices);
    at[axis] = e.Clamp(e.Add(indices[axis], -offset), size);
    Value x = c.Operand(k, at);
    result = result ? e.Select(e.Compare(arith::CmpIPredicate::slt, indices[axis], e.Index(offset)), result, x) : x;
    offset += size;
  }
  return result;
}

Value OneHotOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  Emit e(c);
  Value k = c.Operand(0, indices.drop_back());
  Value position = e.b.create<arith::IndexCastOp>(e.l, k.getType(), indices.back());
  mlir::Type t = TypeOf(getOutput()).getElementType();
  return e.Select(e.Compare(arith::CmpIPredicate::eq, k, position), e.Number(t, 1), e.Number(t, 0));
}

}  // namespace tandem::td
