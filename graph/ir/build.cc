#include "graph/ir/build.h"

#include "graph/ir/binary.h"
#include "graph/ir/dist.h"
#include "graph/ir/reduce.h"
#include "graph/ir/replica_values.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"

namespace tandem::td {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;

Value BuildSplat(OpBuilder& b, Location loc, Type type, double value) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  Type element = tensor.getElementType();
  auto scalar = mlir::RankedTensorType::get({}, element);
  mlir::Attribute v = mlir::isa<mlir::FloatType>(element) ? mlir::Attribute(b.getFloatAttr(element, value))
                                                          : b.getIntegerAttr(element, static_cast<int64_t>(value));
  Value constant = b.create<ConstantOp>(loc, scalar, mlir::DenseElementsAttr::get(scalar, v));
  return tensor.getRank() == 0 ? constant : BuildBroadcast(b, loc, constant, type, {});
}

Value BuildNeg(OpBuilder& b, Location loc, Value x) { return b.create<NegOp>(loc, x); }
Value BuildExp(OpBuilder& b, Location loc, Value x) { return b.create<ExpOp>(loc, x); }
Value BuildLog(OpBuilder& b, Location loc, Value x) { return b.create<LogOp>(loc, x); }
Value BuildRsqrt(OpBuilder& b, Location loc, Value x) { return b.create<RsqrtOp>(loc, x); }
Value BuildSign(OpBuilder& b, Location loc, Value x) { return b.create<SignOp>(loc, x); }
Value BuildAdd(OpBuilder& b, Location loc, Value x, Value y) { return b.create<AddOp>(loc, x, y); }
Value BuildSub(OpBuilder& b, Location loc, Value x, Value y) { return b.create<SubOp>(loc, x, y); }
Value BuildMul(OpBuilder& b, Location loc, Value x, Value y) { return b.create<MulOp>(loc, x, y); }
Value BuildDiv(OpBuilder& b, Location loc, Value x, Value y) { return b.create<DivOp>(loc, x, y); }
Value BuildPow(OpBuilder& b, Location loc, Value x, Value y) { return b.create<PowOp>(loc, x, y); }

Value BuildAdd(OpBuilder& b, Location loc, Value x, double y) {
  return BuildAdd(b, loc, x, BuildSplat(b, loc, x.getType(), y));
}
Value BuildMul(OpBuilder& b, Location loc, Value x, double y) {
  return BuildMul(b, loc, x, BuildSplat(b, loc, x.getType(), y));
}

Value BuildCompare(OpBuilder& b, Location loc, ComparePredicate predicate, Value x, Value y) {
  return b.create<CompareOp>(loc, predicate, x, y);
}
Value BuildSelect(OpBuilder& b, Location loc, Value condition, Value x, Value y) {
  return b.create<SelectOp>(loc, x.getType(), condition, x, y);
}
Value BuildCast(OpBuilder& b, Location loc, Value x, Type element_type) {
  auto type = mlir::cast<mlir::RankedTensorType>(x.getType());
  if (type.getElementType() == element_type) return x;
  return b.create<CastOp>(loc, type.clone(element_type), x);
}

Value BuildBroadcast(OpBuilder& b, Location loc, Value x, Type type, llvm::ArrayRef<int64_t> dims) {
  return x.getType() == type ? x : b.create<BroadcastOp>(loc, type, x, dims);
}
llvm::SmallVector<int64_t> LeadingAxes(Value v) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis + 1 < TypeOf(v).getRank(); ++axis) axes.push_back(axis);
  return axes;
}
Value BuildAlongRows(OpBuilder& b, Location loc, Value row, Value like) {
  return BuildBroadcast(b, loc, row, like.getType(), LeadingAxes(like));
}
Value BuildReshape(OpBuilder& b, Location loc, Value x, Type type) {
  return x.getType() == type ? x : b.create<ReshapeOp>(loc, type, x);
}
Value BuildTranspose(OpBuilder& b, Location loc, Value x, llvm::ArrayRef<int64_t> permutation) {
  return b.create<TransposeOp>(loc, x, b.getDenseI64ArrayAttr(permutation));
}
Value BuildReduce(OpBuilder& b, Location loc, ReduceKind kind, Value x, llvm::ArrayRef<int64_t> axes,
                  BatchScope scope) {
  return axes.empty() ? x : b.create<ReduceOp>(loc, kind, x, axes, scope);
}

Value BuildSumTo(OpBuilder& b, Location loc, Value dy, llvm::ArrayRef<int64_t> dims, Value x) {
  llvm::SmallVector<int64_t> axes;
  int64_t rank = mlir::cast<mlir::RankedTensorType>(dy.getType()).getRank();
  for (int64_t i = 0; i < rank; ++i) {
    if (!llvm::is_contained(dims, i)) axes.push_back(i);
  }
  return BuildReduce(b, loc, ReduceKind::kSum, dy, axes, ScopeOf(x));
}

BatchScope ScopeOf(Value value) { return ReplicaValues().Vary(value) ? BatchScope::kReplica : BatchScope::kGlobal; }

Value BuildCrossReplica(OpBuilder& b, Location loc, CrossReplicaKind kind, Value x) {
  return b.create<CrossReplicaOp>(loc, kind, x);
}

bool IsSplat(Value value, double v) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>()) value = broadcast.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant) return false;
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat()) return false;
  if (mlir::isa<mlir::FloatType>(elements.getElementType()))
    return elements.getSplatValue<llvm::APFloat>().convertToDouble() == v;
  llvm::APInt i = elements.getSplatValue<llvm::APInt>();
  return (i.getBitWidth() == 1 ? static_cast<double>(i.getZExtValue()) : static_cast<double>(i.getSExtValue())) == v;
}

bool IsFloat(Value value) { return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType())); }

}  // namespace tandem::td
