#include "passes/codegen/reduction.h"

#include <numeric>

#include "graph/ir/interfaces.h"
#include "graph/ir/reduce.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem {

namespace arith = mlir::arith;

bool IsColumnSum(mlir::Operation* op) {
  if (td::FusionKindOf(op) != td::FusionKind::kWindow || op->getNumResults() != 1) return false;
  auto rule = mlir::dyn_cast<td::BatchOp>(op);
  return rule && td::IsBatched(op->getOperand(0).getType()) && !td::IsBatched(op->getResult(0).getType()) &&
         rule.getBatchRule() == td::BatchRule::kBatchSum;
}

std::optional<Reduction> ReductionOf(mlir::Operation* op) {
  auto reduce = mlir::dyn_cast_or_null<td::ReduceOp>(op);
  if (reduce) return Reduction{reduce.getKind(), reduce.getAxes().vec()};
  if (!IsColumnSum(op)) return std::nullopt;
  auto domain = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  auto result = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  Reduction reduction;
  reduction.axes.resize(domain.getRank() - 1);
  std::iota(reduction.axes.begin(), reduction.axes.end(), 0);
  reduction.taps = result.getNumElements() / domain.getShape().back();
  return reduction;
}

std::optional<Reduction> ReductionOrArgMaxOf(mlir::Operation* op) {
  auto arg_max = mlir::dyn_cast_or_null<td::ArgMaxOp>(op);
  if (!arg_max) return ReductionOf(op);
  return Reduction{.kind = td::ReduceKind::kMax, .axes = {static_cast<int64_t>(arg_max.getAxis())}, .arg_max = true};
}

std::optional<Reduction> BatchReductionOf(mlir::Operation* op) {
  if (td::FusionKindOf(op) == td::FusionKind::kNone) return std::nullopt;
  if (llvm::none_of(op->getOperandTypes(), td::IsBatched)) return std::nullopt;
  if (llvm::any_of(op->getResultTypes(), td::IsBatched)) return std::nullopt;
  if (std::optional<Reduction> reduction = ReductionOf(op)) return reduction;
  auto rule = mlir::dyn_cast<td::BatchOp>(op);
  if (!rule) return std::nullopt;
  if (rule.getBatchRule() == td::BatchRule::kBatchSum) return Reduction{td::ReduceKind::kSum};
  if (rule.getBatchRule() == td::BatchRule::kBatchMax) return Reduction{td::ReduceKind::kMax};
  return std::nullopt;
}

int64_t ColumnsOf(mlir::Operation* op, const Reduction& reduction) {
  auto shape = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  int64_t columns = 1;
  for (int64_t d = shape.size(); d-- > 0 && !llvm::is_contained(reduction.axes, d);) columns *= shape[d];
  return columns;
}

mlir::Value NeutralElement(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Type type) {
  const bool is_max = kind == td::ReduceKind::kMax, is_min = kind == td::ReduceKind::kMin;
  const bool is_prod = kind == td::ReduceKind::kProd;
  if (auto f = mlir::dyn_cast<mlir::FloatType>(type)) {
    llvm::APFloat value = llvm::APFloat::getZero(f.getFloatSemantics());
    if (is_prod) value = llvm::APFloat(f.getFloatSemantics(), 1);
    if (is_max || is_min) value = llvm::APFloat::getInf(f.getFloatSemantics(), is_max);
    return builder.create<arith::ConstantOp>(loc, builder.getFloatAttr(type, value));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  llvm::APInt value(width, is_prod ? 1 : 0);
  if (is_max) value = width == 1 ? llvm::APInt(1, 0) : llvm::APInt::getSignedMinValue(width);
  if (is_min) value = width == 1 ? llvm::APInt(1, 1) : llvm::APInt::getSignedMaxValue(width);
  return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, value));
}

mlir::Value Combine(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Value a, mlir::Value b,
                    bool reassociate) {
  if (mlir::isa<mlir::FloatType>(a.getType())) {
    auto flags =
        reassociate ? arith::FastMathFlags::reassoc | arith::FastMathFlags::contract : arith::FastMathFlags::none;
    if (kind == td::ReduceKind::kSum) return builder.create<arith::AddFOp>(loc, a, b, flags);
    if (kind == td::ReduceKind::kProd) return builder.create<arith::MulFOp>(loc, a, b, flags);
    // maximum and minimum instead of maxnum and minnum, so that a NaN comes through.
    if (kind == td::ReduceKind::kMax) return builder.create<arith::MaximumFOp>(loc, a, b);
    return builder.create<arith::MinimumFOp>(loc, a, b);
  }
  bool boolean = a.getType().isInteger(1);
  if (kind == td::ReduceKind::kSum) return builder.create<arith::AddIOp>(loc, a, b);
  if (kind == td::ReduceKind::kProd) return builder.create<arith::MulIOp>(loc, a, b);
  if (kind == td::ReduceKind::kMax) {
    if (boolean) return builder.create<arith::OrIOp>(loc, a, b);
    return builder.create<arith::MaxSIOp>(loc, a, b);
  }
  if (boolean) return builder.create<arith::AndIOp>(loc, a, b);
  return builder.create<arith::MinSIOp>(loc, a, b);
}

mlir::Value CombinePairs(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind,
                         std::vector<mlir::Value> v) {
  for (size_t n = v.size(); n > 1; n /= 2) {
    for (size_t i = 0; i < n / 2; ++i) v[i] = Combine(builder, loc, kind, v[2 * i], v[2 * i + 1], false);
  }
  return v[0];
}

}  // namespace tandem
