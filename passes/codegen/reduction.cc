#include "passes/codegen/reduction.h"

#include <algorithm>
#include <numeric>

#include "graph/ir/interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem {

namespace arith = mlir::arith;

bool IsColumnSum(mlir::Operation* op) {
  auto elemental = mlir::dyn_cast_or_null<td::ElementalOp>(op);
  if (!elemental || elemental.getFusionKind() != td::FusionKind::kWindow || op->getNumResults() != 1) return false;
  auto rule = mlir::dyn_cast<td::BatchOp>(op);
  return rule && td::IsBatched(op->getOperand(0).getType()) && !td::IsBatched(op->getResult(0).getType()) &&
         rule.getBatchRule() == td::BatchRule::kBatchSum;
}

bool GetReduction(mlir::Operation* op, Reduction& reduction) {
  reduction.taps = 1;
  if (IsColumnSum(op)) {
    auto domain = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
    auto result = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    reduction.kind = "sum";
    reduction.axes.resize(domain.getRank() - 1);
    std::iota(reduction.axes.begin(), reduction.axes.end(), 0);
    reduction.taps = result.getNumElements() / domain.getShape().back();
    return true;
  }
  if (op == nullptr || op->getName().getStringRef() != "td.reduce") return false;
  auto kind = op->getAttrOfType<mlir::StringAttr>("kind");
  mlir::Attribute axes = op->getAttr("axes");
  if (!kind || !axes) return false;
  reduction.kind = kind.getValue().str();
  reduction.axes.clear();
  if (auto dense = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(axes)) {
    reduction.axes.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
  } else if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(axes)) {
    for (mlir::Attribute a : array) reduction.axes.push_back(mlir::cast<mlir::IntegerAttr>(a).getInt());
  }
  std::sort(reduction.axes.begin(), reduction.axes.end());
  return true;
}

bool GetArgMax(mlir::Operation* op, Reduction& reduction) {
  if (op == nullptr || op->getName().getStringRef() != "td.argmax") return false;
  auto axis = op->getAttrOfType<mlir::IntegerAttr>("axis");
  if (!axis) return false;
  reduction = {"argmax", {axis.getInt()}, 1};
  return true;
}

bool GetBatchReduction(mlir::Operation* op, Reduction& reduction) {
  auto elemental = mlir::dyn_cast_or_null<td::ElementalOp>(op);
  if (!elemental || llvm::none_of(op->getOperandTypes(), td::IsBatched)) return false;
  if (llvm::any_of(op->getResultTypes(), td::IsBatched)) return false;
  if (GetReduction(op, reduction)) return true;
  auto rule = mlir::dyn_cast<td::BatchOp>(op);
  if (!rule) return false;
  reduction.axes.clear();
  reduction.kind = rule.getBatchRule() == td::BatchRule::kBatchMax ? "max" : "sum";
  return rule.getBatchRule() == td::BatchRule::kBatchMax || rule.getBatchRule() == td::BatchRule::kBatchSum;
}

mlir::Value NeutralElement(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef kind, mlir::Type type) {
  if (auto f = mlir::dyn_cast<mlir::FloatType>(type)) {
    llvm::APFloat value = llvm::APFloat::getZero(f.getFloatSemantics());
    if (kind == "prod") value = llvm::APFloat(f.getFloatSemantics(), 1);
    if (kind == "max" || kind == "min") value = llvm::APFloat::getInf(f.getFloatSemantics(), kind == "max");
    return builder.create<arith::ConstantOp>(loc, builder.getFloatAttr(type, value));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  llvm::APInt value(width, kind == "prod" ? 1 : 0);
  if (kind == "max") value = width == 1 ? llvm::APInt(1, 0) : llvm::APInt::getSignedMinValue(width);
  if (kind == "min") value = width == 1 ? llvm::APInt(1, 1) : llvm::APInt::getSignedMaxValue(width);
  return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, value));
}

mlir::Value Combine(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef kind, mlir::Value a, mlir::Value b,
                    bool reassociate) {
  if (mlir::isa<mlir::FloatType>(a.getType())) {
    auto flags =
        reassociate ? arith::FastMathFlags::reassoc | arith::FastMathFlags::contract : arith::FastMathFlags::none;
    if (kind == "sum") return builder.create<arith::AddFOp>(loc, a, b, flags);
    if (kind == "prod") return builder.create<arith::MulFOp>(loc, a, b, flags);
    // maximum and minimum, not maxnum: a NaN must come through.
    if (kind == "max") return builder.create<arith::MaximumFOp>(loc, a, b);
    return builder.create<arith::MinimumFOp>(loc, a, b);
  }
  bool boolean = a.getType().isInteger(1);
  if (kind == "sum") return builder.create<arith::AddIOp>(loc, a, b);
  if (kind == "prod") return builder.create<arith::MulIOp>(loc, a, b);
  if (kind == "max") {
    if (boolean) return builder.create<arith::OrIOp>(loc, a, b);
    return builder.create<arith::MaxSIOp>(loc, a, b);
  }
  if (boolean) return builder.create<arith::AndIOp>(loc, a, b);
  return builder.create<arith::MinSIOp>(loc, a, b);
}

}  // namespace tandem
