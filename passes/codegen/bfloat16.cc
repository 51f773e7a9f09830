#include "passes/codegen/bfloat16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem {

namespace arith = mlir::arith;

mlir::Value WidenBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value stored) {
  mlir::Value bits = builder.create<arith::ExtUIOp>(loc, builder.getI32Type(), stored);
  mlir::Value sixteen = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(16));
  mlir::Value upper = builder.create<arith::ShLIOp>(loc, bits, sixteen);
  return builder.create<arith::BitcastOp>(loc, builder.getF32Type(), upper);
}

mlir::Value NarrowToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value) {
  mlir::Value narrow = builder.create<arith::TruncFOp>(loc, builder.getBF16Type(), value);
  return builder.create<arith::BitcastOp>(loc, builder.getI16Type(), narrow);
}

mlir::Value RoundToBFloat16(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value) {
  return WidenBFloat16(builder, loc, NarrowToBFloat16(builder, loc, value));
}

}  // namespace tandem
