#include "passes/codegen/bfloat16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem {

namespace arith = mlir::arith;

namespace {

constexpr int kMaxDepth = 6;

// True if the lower half of the float32 `v` is visibly zero: for a constant with such bits, for a result of
// WidenBFloat16, and for selections among such values and their negations.
bool IsBFloat16(mlir::Value v, int depth = 0) {
  mlir::Operation* op = v.getDefiningOp();
  if (op == nullptr || depth > kMaxDepth) return false;
  if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op)) {
    auto number = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
    return number && (number.getValue().bitcastToAPInt().getZExtValue() & 0xffff) == 0;
  }
  if (auto cast = mlir::dyn_cast<arith::BitcastOp>(op)) {
    auto shift = cast.getIn().getDefiningOp<arith::ShLIOp>();
    return shift && shift.getLhs().getDefiningOp<arith::ExtUIOp>();
  }
  if (auto select = mlir::dyn_cast<arith::SelectOp>(op)) {
    return IsBFloat16(select.getTrueValue(), depth + 1) && IsBFloat16(select.getFalseValue(), depth + 1);
  }
  if (!mlir::isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return IsBFloat16(operand, depth + 1); });
}

}  // namespace

mlir::Value WidenBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value stored) {
  mlir::Value bits = builder.create<arith::ExtUIOp>(loc, builder.getI32Type(), stored);
  mlir::Value sixteen = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(16));
  mlir::Value upper = builder.create<arith::ShLIOp>(loc, bits, sixteen);
  return builder.create<arith::BitcastOp>(loc, builder.getF32Type(), upper);
}

mlir::Value NarrowToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value) {
  if (IsBFloat16(value)) {
    mlir::Value bits = builder.create<arith::BitcastOp>(loc, builder.getI32Type(), value);
    mlir::Value sixteen = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(16));
    mlir::Value upper = builder.create<arith::ShRUIOp>(loc, bits, sixteen);
    return builder.create<arith::TruncIOp>(loc, builder.getI16Type(), upper);
  }
  mlir::Value narrow = builder.create<arith::TruncFOp>(loc, builder.getBF16Type(), value);
  return builder.create<arith::BitcastOp>(loc, builder.getI16Type(), narrow);
}

mlir::Value RoundToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value) {
  if (IsBFloat16(value)) return value;
  return WidenBFloat16(builder, loc, NarrowToBFloat16(builder, loc, value));
}

}  // namespace tandem
