// Translates softmax and layer norm.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "graph/ir/norm.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/patterns.h"
#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

// Returns a translator for softmax over td's last dimension, the channels, which may be dimension 1 of the tensor.
Translator ToSoftmax(const std::string& op_type) {
  return [op_type](mlir::Operation* op, Lowering& lowering) {
    const mlir::Value x = op->getOperand(0);
    const Layout layout = lowering.LayoutOf(x);
    const int64_t axis = layout == Layout::kChannelsFirst ? 1 : -1;
    lowering.Set(op->getResult(0), lowering.Node(op_type, {lowering.Tensor(x, layout)}, {{"axis", axis}}), layout);
    return absl::OkStatus();
  };
}

HostTensor VectorOf(double number, int64_t size, DType dtype) {
  HostTensor vector(dtype, {size});
  const HostTensor element = NumberOf(number, dtype);
  for (int64_t i = 0; i < size; ++i) {
    std::memcpy(static_cast<char*>(vector.raw()) + i * SizeOf(dtype), element.raw(), SizeOf(dtype));
  }
  return vector;
}

// The inputs and attributes of a LayerNormalization node. A missing gamma becomes a vector of ones, which the node
// needs.
struct LayerNormalization {
  std::vector<TensorId> inputs;
  std::vector<Attribute> attributes;
};

LayerNormalization NormalizationOf(td::LayerNormOp norm, mlir::Value gamma, mlir::Value beta, Lowering& lowering) {
  const mlir::Value x = norm.getInput();
  const TensorId scale =
      gamma ? lowering.Tensor(gamma) : lowering.Constant("ones", VectorOf(1, ShapeOf(x).back(), ElementTypeOf(x)));
  LayerNormalization result{.inputs = {lowering.Tensor(x), scale}};
  if (beta) result.inputs.push_back(lowering.Tensor(beta));
  result.attributes = {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(norm.getEpsilon().convertToDouble())}};
  return result;
}

absl::Status LayerNorm(mlir::Operation* op, Lowering& lowering) {
  auto norm = mlir::cast<td::LayerNormOp>(op);
  const auto [inputs, attributes] = NormalizationOf(norm, {}, {}, lowering);
  const mlir::Value inverse_deviation = op->getResult(1);
  if (inverse_deviation.use_empty()) {
    lowering.Set(op->getResult(0), lowering.Node("LayerNormalization", inputs, attributes));
    return absl::OkStatus();
  }
  // Outputs 1 and 2 are the means and the inverse deviations, of shape [..., 1].
  const std::vector<TensorId> outputs = lowering.Nodes("LayerNormalization", inputs, attributes, 3);
  lowering.Set(op->getResult(0), outputs[0]);
  lowering.Set(inverse_deviation, lowering.Reshaped(outputs[2], ShapeOf(inverse_deviation)));
  return absl::OkStatus();
}

// If `value` is the normalized result of a td.layer_norm, is read once, and the op's other result is not read, returns
// the op; else null.
td::LayerNormOp OnlyRead(mlir::Value value) {
  auto norm = value.getDefiningOp<td::LayerNormOp>();
  const bool only =
      norm && value == norm.getNormalized() && value.hasOneUse() && norm.getInverseDeviation().use_empty();
  return only ? norm : td::LayerNormOp();
}

// If `op` combines such a layer norm (OnlyRead) with a broadcast vector, in either order, returns the norm and sets
// `vector`; else null.
td::LayerNormOp NormWithVector(mlir::Operation* op, mlir::Value* vector) {
  for (int i = 0; i < 2; ++i) {
    td::LayerNormOp norm = OnlyRead(op->getOperand(i));
    *vector = RepeatedVector(op->getOperand(1 - i));
    if (norm && *vector) return norm;
  }
  return {};
}

}  // namespace

bool TranslateLayerNorm(mlir::Operation* op, Lowering& lowering) {
  mlir::Value gamma, beta;
  td::LayerNormOp norm;
  if (op->getName().getStringRef() == "td.mul") {
    norm = NormWithVector(op, &gamma);
  } else {
    norm = NormWithVector(op, &beta);
    for (int i = 0; i < 2 && !norm; ++i) {
      mlir::Operation* scaled = op->getOperand(i).getDefiningOp();
      beta = RepeatedVector(op->getOperand(1 - i));
      const bool is_scaled = scaled != nullptr && scaled->getName().getStringRef() == "td.mul" && scaled->hasOneUse();
      if (beta && is_scaled) norm = NormWithVector(scaled, &gamma);
    }
  }
  if (!norm) return false;
  const auto [inputs, attributes] = NormalizationOf(norm, gamma, beta, lowering);
  lowering.Set(op->getResult(0), lowering.Node("LayerNormalization", inputs, attributes));
  return true;
}

void AddNorms(TranslatorTable& table) {
  table["td.softmax"] = ToSoftmax("Softmax");
  table["td.log_softmax"] = ToSoftmax("LogSoftmax");
  table["td.layer_norm"] = LayerNorm;
}

}  // namespace tandem::onnx
