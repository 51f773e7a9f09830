// Loop nests of the reductions. A reduction over the batch emits the contribution of one row, whose number is the first
// index; the kernel loops over the rows.
#include <functional>
#include <limits>

#include "graph/ir/reduce.h"
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tandem::td {

using mlir::Value;
using mlir::ValueRange;
namespace arith = mlir::arith;

namespace {

// Returns the neutral element of a reduction of this kind.
Value Initial(mlir::OpBuilder& b, mlir::Location l, ReduceKind kind, mlir::Type t) {
  if (kind == ReduceKind::kSum) return RegisterNumber(b, l, t, 0);
  if (kind == ReduceKind::kProd) return RegisterNumber(b, l, t, 1);
  const bool is_max = kind == ReduceKind::kMax;
  if (mlir::isa<mlir::FloatType>(t)) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    return RegisterNumber(b, l, t, is_max ? -kInf : kInf);
  }
  unsigned bits = t.getIntOrFloatBitWidth();
  llvm::APInt v = is_max ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return b.create<arith::ConstantOp>(l, b.getIntegerAttr(t, v));
}

Value Combine(mlir::OpBuilder& b, mlir::Location l, ReduceKind kind, Value x, Value y) {
  bool is_float = mlir::isa<mlir::FloatType>(x.getType());
  if (kind == ReduceKind::kSum)
    return is_float ? Value(b.create<arith::AddFOp>(l, x, y)) : Value(b.create<arith::AddIOp>(l, x, y));
  if (kind == ReduceKind::kProd)
    return is_float ? Value(b.create<arith::MulFOp>(l, x, y)) : Value(b.create<arith::MulIOp>(l, x, y));
  if (kind == ReduceKind::kMax)
    return is_float ? Value(b.create<arith::MaximumFOp>(l, x, y)) : Value(b.create<arith::MaxSIOp>(l, x, y));
  return is_float ? Value(b.create<arith::MinimumFOp>(l, x, y)) : Value(b.create<arith::MinSIOp>(l, x, y));
}

mlir::scf::ForOp Loop(mlir::OpBuilder& b, mlir::Location l, int64_t n, ValueRange initial) {
  auto index = [&](int64_t i) -> Value { return b.create<arith::ConstantIndexOp>(l, i); };
  return b.create<mlir::scf::ForOp>(l, index(0), index(n), index(1), initial);
}

}  // namespace

Value ReduceOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  mlir::Location l = c.loc();
  auto type = mlir::cast<mlir::RankedTensorType>(getInput().getType());
  llvm::SmallVector<Value> at(type.getRank());
  llvm::SmallVector<int64_t> loops;
  size_t next = 0;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    // No loop is emitted over the batch, even if it is reduced: the caller passes its index and loops over the rows.
    if (llvm::is_contained(getAxes(), d) && !type.isDynamicDim(d)) {
      loops.push_back(d);
    } else {
      at[d] = indices[next++];
    }
  }
  if (loops.empty()) return c.Operand(0, at);
  std::function<Value(size_t, Value)> nest = [&](size_t k, Value sum) -> Value {
    if (k == loops.size()) return Combine(b, l, getKind(), sum, c.Operand(0, at));
    auto loop = Loop(b, l, type.getDimSize(loops[k]), sum);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    at[loops[k]] = loop.getInductionVar();
    Value inner = nest(k + 1, loop.getRegionIterArgs()[0]);
    b.create<mlir::scf::YieldOp>(l, inner);
    return loop.getResult(0);
  };
  return nest(0, Initial(b, l, getKind(), type.getElementType()));
}

Value ArgMaxOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  mlir::Location l = c.loc();
  auto type = mlir::cast<mlir::RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  llvm::SmallVector<Value> at(indices);
  at.insert(at.begin() + axis, b.create<arith::ConstantIndexOp>(l, 0));
  // An element replaces the best one so far only if it is larger, as in the interpreter, so a NaN at the first place is
  // the answer.
  Value first = c.Operand(0, at);
  Value zero = b.create<arith::ConstantIndexOp>(l, 0);
  auto loop = Loop(b, l, type.getDimSize(axis), ValueRange{first, zero});
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    at[axis] = loop.getInductionVar();
    Value x = c.Operand(0, at), best = loop.getRegionIterArgs()[0];
    Value larger = mlir::isa<mlir::FloatType>(x.getType())
                       ? Value(b.create<arith::CmpFOp>(l, arith::CmpFPredicate::OGT, x, best))
                       : Value(b.create<arith::CmpIOp>(l, arith::CmpIPredicate::sgt, x, best));
    Value value = b.create<arith::SelectOp>(l, larger, x, best);
    Value index = b.create<arith::SelectOp>(l, larger, loop.getInductionVar(), loop.getRegionIterArgs()[1]);
    b.create<mlir::scf::YieldOp>(l, ValueRange{value, index});
  }
  return b.create<arith::IndexCastOp>(l, b.getI64Type(), loop.getResult(1));
}

}  // namespace tandem::td
