// An ONNX model as plain structs, named like the messages of onnx.proto, with the fields that exports need.
#ifndef TANDEM_PASSES_ONNX_MODEL_H_
#define TANDEM_PASSES_ONNX_MODEL_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/host_tensor.h"

namespace tandem::onnx {

// The versions of the file format and of the set of ops, which readers from 2022 on support.
inline constexpr int64_t kIrVersion = 8;
inline constexpr int64_t kOpset = 17;

// Returns the value of the enumeration TensorProto.DataType for an element type; 0 for types that models cannot have.
constexpr int64_t DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kUInt8:
      return 2;
    case DType::kInt32:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kFloat64:
      return 11;
    default:
      return 0;
  }
}

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>> value;
};

struct Node {
  std::string name, op_type;
  std::vector<std::string> inputs, outputs;  // names of tensors
  std::vector<Attribute> attributes;
};

struct ValueInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;  // shape[0] may be kBatch
};

struct Initializer {
  std::string name;
  HostTensor value;
};

struct Model {
  std::string name;
  std::vector<Node> nodes;  // each node comes after those whose outputs it reads
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_MODEL_H_
