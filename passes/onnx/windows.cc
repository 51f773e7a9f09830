// Translates ops on windows that slide over images: convolutions and pooling. ONNX's pads are first those before height
// and width, then those behind them.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/contract.h"
#include "graph/ir/pool.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/patterns.h"
#include "passes/onnx/products.h"
#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

// Returns the permutation of a kernel [h, w, in, out] to ONNX's [out, in, h, w], and of a depthwise kernel [h, w, 1,
// out] to [out, 1, h, w]. The kernel of ConvTranspose needs the same: its inputs are the convolution's outputs.
const std::vector<int64_t>& KernelOrder() {
  static const auto* order = new std::vector<int64_t>{3, 2, 0, 1};
  return *order;
}

template <typename Op>
std::vector<Attribute> WindowAttributes(Op op, std::vector<int64_t> window) {
  std::vector<int64_t> pads = ToNumbers(op.getPadLow());
  pads.insert(pads.end(), op.getPadHigh().begin(), op.getPadHigh().end());
  return {{"kernel_shape", std::move(window)}, {"strides", ToNumbers(op.getStrides())}, {"pads", std::move(pads)}};
}

TensorId KernelTensor(mlir::Value kernel, const std::optional<Lowering::NamedConstant>& other, Lowering& lowering) {
  if (other.has_value()) return lowering.Constant(other->name, Permuted(other->value, KernelOrder()));
  if (lowering.ConstantOf(kernel) != nullptr) return lowering.PermutedConstant(kernel, KernelOrder());
  return lowering.Transposed(lowering.Tensor(kernel), KernelOrder());
}

std::vector<int64_t> WindowOf(mlir::Value kernel) {
  const Shape shape = ShapeOf(kernel);
  return {shape[0], shape[1]};
}

absl::Status Convolve(mlir::Operation* op, Lowering& lowering) {
  if (!BiasBehind(op)) SetConvolution(op, std::nullopt, std::nullopt, op->getResult(0), lowering);
  return absl::OkStatus();
}

// Translates the gradient to a convolution's input, by which a model may enlarge images, to ConvTranspose.
absl::Status ConvolveTransposed(mlir::Operation* op, Lowering& lowering) {
  auto gradient = mlir::cast<td::Conv2DInputGradOp>(op);
  const std::vector<int64_t> window = WindowOf(gradient.getKernel());
  const Shape from = ShapeOf(gradient.getDy());
  std::vector<Attribute> attributes = WindowAttributes(gradient, window);
  std::vector<int64_t> open;  // number of last rows and columns that no window reaches
  for (int i = 0; i < 2; ++i) {
    const int64_t reached = (from[1 + i] - 1) * gradient.getStrides()[i] + window[i];
    open.push_back(gradient.getSize()[i] + gradient.getPadLow()[i] + gradient.getPadHigh()[i] - reached);
  }
  attributes.push_back({"output_padding", open});
  const TensorId dy = lowering.Tensor(gradient.getDy(), Layout::kChannelsFirst);
  const TensorId kernel = KernelTensor(gradient.getKernel(), std::nullopt, lowering);
  lowering.Set(op->getResult(0), lowering.Node("ConvTranspose", {dy, kernel}, attributes), Layout::kChannelsFirst);
  return absl::OkStatus();
}

template <typename Op>
void Pool(Op op, const std::string& op_type, const std::vector<Attribute>& more, Lowering& lowering) {
  std::vector<Attribute> attributes = WindowAttributes(op, ToNumbers(op.getWindow()));
  attributes.insert(attributes.end(), more.begin(), more.end());
  const TensorId x = lowering.Tensor(op.getX(), Layout::kChannelsFirst);
  lowering.Set(op.getOutput(), lowering.Node(op_type, {x}, attributes), Layout::kChannelsFirst);
}

absl::Status MaxPool(mlir::Operation* op, Lowering& lowering) {
  Pool(mlir::cast<td::MaxPoolOp>(op), "MaxPool", {}, lowering);
  return absl::OkStatus();
}

absl::Status AvgPool(mlir::Operation* op, Lowering& lowering) {
  Pool(mlir::cast<td::AvgPoolOp>(op), "AveragePool", {{"count_include_pad", int64_t{0}}}, lowering);
  return absl::OkStatus();
}

}  // namespace

bool IsConvolution(mlir::Operation* op) { return op != nullptr && mlir::isa<td::Conv2DOp, td::DepthwiseConv2DOp>(op); }

void SetConvolution(mlir::Operation* op, const std::optional<Lowering::NamedConstant>& kernel,
                    std::optional<TensorId> bias, mlir::Value result, Lowering& lowering) {
  const mlir::Value x = op->getOperand(0), weights = op->getOperand(1);
  std::vector<Attribute> attributes;
  if (auto convolution = mlir::dyn_cast<td::Conv2DOp>(op)) {
    attributes = WindowAttributes(convolution, WindowOf(weights));
  } else {
    attributes = WindowAttributes(mlir::cast<td::DepthwiseConv2DOp>(op), WindowOf(weights));
    attributes.push_back({"group", ShapeOf(x)[3]});
  }
  std::vector<TensorId> inputs = {lowering.Tensor(x, Layout::kChannelsFirst), KernelTensor(weights, kernel, lowering)};
  if (bias.has_value()) inputs.push_back(*bias);
  lowering.Set(result, lowering.Node("Conv", inputs, attributes), Layout::kChannelsFirst);
}

void AddWindows(TranslatorTable& table) {
  table["td.conv2d"] = Convolve;
  table["td.depthwise_conv2d"] = Convolve;
  table["td.conv2d_input_grad"] = ConvolveTransposed;
  table["td.max_pool"] = MaxPool;
  table["td.avg_pool"] = AvgPool;
}

}  // namespace tandem::onnx
