#include "passes/stablehlo/lowering.h"

namespace tandem::stablehlo {

mlir::RankedTensorType Lowering::TypeFor(mlir::Value value) const {
  const mlir::RankedTensorType type = TypeOf(value);
  llvm::SmallVector<int64_t> shape(type.getShape());
  for (int64_t& size : shape) size = mlir::ShapedType::isDynamic(size) ? rows_ : size;
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

llvm::SmallVector<mlir::Value> Lowering::Get(mlir::ValueRange values) const {
  llvm::SmallVector<mlir::Value> lowered;
  for (mlir::Value value : values) lowered.push_back(Get(value));
  return lowered;
}

}  // namespace tandem::stablehlo
