#include "graph/ir/interfaces.h"

#include "graph/ir/interfaces.cc.inc"

namespace tandem::td {

Shape ToShape(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  Shape shape;
  for (int64_t d : t.getShape()) shape.push_back(mlir::ShapedType::isDynamic(d) ? kBatch : d);
  return shape;
}

DType ToDType(mlir::Type t) {
  if (t.isF32()) return DType::kFloat32;
  if (t.isF64()) return DType::kFloat64;
  if (t.isBF16()) return DType::kBFloat16;
  if (t.isInteger(1)) return DType::kBool;
  if (t.isUnsignedInteger(8) || t.isInteger(8)) return DType::kUInt8;
  if (t.isInteger(32)) return DType::kInt32;
  if (t.isInteger(64)) return DType::kInt64;
  return DType::kInvalid;
}

mlir::Type FromDType(mlir::MLIRContext* context, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return mlir::Float32Type::get(context);
    case DType::kFloat64:
      return mlir::Float64Type::get(context);
    case DType::kInt32:
      return mlir::IntegerType::get(context, 32);
    case DType::kInt64:
      return mlir::IntegerType::get(context, 64);
    case DType::kUInt8:
      return mlir::IntegerType::get(context, 8, mlir::IntegerType::Unsigned);
    case DType::kBool:
      return mlir::IntegerType::get(context, 1);
    case DType::kBFloat16:
      return mlir::BFloat16Type::get(context);
    case DType::kString:  // programs have no strings
    case DType::kInvalid:
      return {};
  }
  return {};
}

mlir::RankedTensorType TensorType(mlir::MLIRContext* context, DType dtype, absl::Span<const int64_t> shape) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t d : shape) dims.push_back(d == kBatch ? mlir::ShapedType::kDynamic : d);
  return mlir::RankedTensorType::get(dims, FromDType(context, dtype));
}

}  // namespace tandem::td
