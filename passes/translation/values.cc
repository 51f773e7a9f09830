#include "passes/translation/values.h"

#include "graph/ir/interfaces.h"

namespace tandem::translation {

Shape ShapeOf(mlir::Value value) { return td::ToShape(value.getType()); }

DType ElementTypeOf(mlir::Value value) { return td::ToDType(mlir::getElementTypeOrSelf(value.getType())); }

HostTensor NumberOf(double number, DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return HostTensor::Scalar(number);
    case DType::kInt32:
      return HostTensor::Scalar(static_cast<int32_t>(number));
    case DType::kInt64:
      return HostTensor::Scalar(static_cast<int64_t>(number));
    case DType::kUInt8:
      return HostTensor::Scalar(static_cast<uint8_t>(number));
    case DType::kBool:
      return HostTensor::Scalar(number != 0);
    default:
      return HostTensor::Scalar(static_cast<float>(number));
  }
}

}  // namespace tandem::translation
