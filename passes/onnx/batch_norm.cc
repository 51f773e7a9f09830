// Recognizes batch norm with moving averages, and biases of convolutions and products, in the td ops that layers build,
// and translates each to one ONNX op.
#include <cmath>
#include <optional>
#include <vector>

#include "graph/ir/binary.h"
#include "graph/ir/contract.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "passes/base/pass_util.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/patterns.h"
#include "passes/onnx/products.h"

namespace tandem::onnx {
namespace {

struct BatchNorm {
  mlir::Value x, mean, variance, gamma, beta;  // gamma and beta may be null
  double epsilon = 0;
};

// If `value` is variance + epsilon, in either order, sets both in `norm` and returns true.
bool MatchVariance(mlir::Value value, BatchNorm* norm) {
  auto sum = value.getDefiningOp<td::AddOp>();
  for (int i = 0; sum && i < 2; ++i) {
    const std::optional<double> epsilon = SplatOf(sum->getOperand(i));
    if (!epsilon.has_value() || !(*epsilon > 0)) continue;
    norm->variance = sum->getOperand(1 - i);
    norm->epsilon = *epsilon;
    return true;
  }
  return false;
}

// If `value` is rsqrt(variance + epsilon), or gamma times that in either order, sets these in `norm` and returns true.
bool MatchScale(mlir::Value value, BatchNorm* norm) {
  if (auto rsqrt = value.getDefiningOp<td::RsqrtOp>()) return MatchVariance(rsqrt.getInput(), norm);
  auto product = value.getDefiningOp<td::MulOp>();
  for (int i = 0; product && i < 2; ++i) {
    auto rsqrt = product->getOperand(i).getDefiningOp<td::RsqrtOp>();
    if (!rsqrt || !MatchVariance(rsqrt.getInput(), norm)) continue;
    norm->gamma = product->getOperand(1 - i);
    return true;
  }
  return false;
}

// If `product` is (x - mean) * scale, in either order, sets its parts in `norm` and returns true.
bool MatchProduct(td::MulOp product, BatchNorm* norm) {
  for (int i = 0; product && i < 2; ++i) {
    auto difference = product->getOperand(i).getDefiningOp<td::SubOp>();
    const mlir::Value scale = RepeatedVector(product->getOperand(1 - i));
    if (!difference || !difference->hasOneUse() || !scale) continue;
    norm->x = difference.getLhs();
    norm->mean = RepeatedVector(difference.getRhs());
    if (norm->mean && MatchScale(scale, norm)) return true;
  }
  return false;
}

std::optional<BatchNorm> MatchBatchNorm(mlir::Operation* op) {
  BatchNorm norm;
  if (auto product = mlir::dyn_cast<td::MulOp>(op)) {
    return MatchProduct(product, &norm) ? std::optional(norm) : std::nullopt;
  }
  for (int i = 0; i < 2; ++i) {
    auto product = op->getOperand(i).getDefiningOp<td::MulOp>();
    norm.beta = RepeatedVector(op->getOperand(1 - i));
    if (norm.beta && product && product->hasOneUse() && MatchProduct(product, &norm)) return norm;
  }
  return std::nullopt;
}

// A convolution, with its bias if it has one, whose result only one op reads.
struct BiasedConvolution {
  mlir::Operation* op = nullptr;
  mlir::Value bias;
};

BiasedConvolution ConvolutionThatMakes(mlir::Value x) {
  mlir::Operation* op = x.getDefiningOp();
  if (op == nullptr || !x.hasOneUse()) return {};
  if (IsConvolution(op)) return {op, {}};
  auto sum = mlir::dyn_cast<td::AddOp>(op);
  for (int i = 0; sum && i < 2; ++i) {
    const mlir::Value bias = RepeatedVector(op->getOperand(1 - i));
    if (bias && IsConvolution(op->getOperand(i).getDefiningOp()) && op->getOperand(i).hasOneUse()) {
      return {op->getOperand(i).getDefiningOp(), bias};
    }
  }
  return {};
}

// Gets the elements of a constant vector of float32; for a null value, `size` times the number `missing`. False if
// `value` is no such constant.
bool KnownVector(mlir::Value value, double missing, int64_t size, const Lowering& lowering,
                 std::vector<double>* elements) {
  elements->assign(size, missing);
  if (!value) return true;
  const Lowering::NamedConstant* known = lowering.ConstantOf(value);
  if (known == nullptr || known->value.dtype() != DType::kFloat32) return false;
  const auto values = known->value.values<float>();
  elements->assign(values.begin(), values.end());
  return true;
}

// If a convolution computes x, makes the batch norm part of it: (k * x + bias - mean) scale + beta is a convolution
// with the kernel k scale and another bias, computed in double precision. False if a value is not a constant of
// float32.
bool FoldIntoConvolution(const BatchNorm& norm, mlir::Value result, Lowering& lowering) {
  const BiasedConvolution convolution = ConvolutionThatMakes(norm.x);
  if (convolution.op == nullptr) return false;
  const Lowering::NamedConstant* kernel = lowering.ConstantOf(convolution.op->getOperand(1));
  const int64_t channels = ShapeOf(norm.x).back();
  std::vector<double> bias, mean, variance, gamma, beta;
  if (kernel == nullptr || kernel->value.dtype() != DType::kFloat32 ||
      !KnownVector(convolution.bias, 0, channels, lowering, &bias) ||
      !KnownVector(norm.mean, 0, channels, lowering, &mean) ||
      !KnownVector(norm.variance, 1, channels, lowering, &variance) ||
      !KnownVector(norm.gamma, 1, channels, lowering, &gamma) ||
      !KnownVector(norm.beta, 0, channels, lowering, &beta)) {
    return false;
  }
  Lowering::NamedConstant scaled = {kernel->name, kernel->value.Clone()};
  HostTensor shifted(DType::kFloat32, {channels});
  float* weights = scaled.value.data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const double scale = gamma[c] / std::sqrt(variance[c] + norm.epsilon);
    shifted.data<float>()[c] = static_cast<float>((bias[c] - mean[c]) * scale + beta[c]);
    for (int64_t i = c; i < scaled.value.num_elements(); i += channels) {
      weights[i] = static_cast<float>(weights[i] * scale);
    }
  }
  const Lowering::NamedConstant* named = lowering.ConstantOf(convolution.bias ? convolution.bias : norm.mean);
  lowering.Begin(convolution.op);
  SetConvolution(convolution.op, scaled, lowering.Constant(named->name, shifted), result, lowering);
  return true;
}

// Returns the tensor of `vector`. If it is null, returns a constant vector of the number `missing`, as long as `like`.
TensorId GivenOr(mlir::Value vector, double missing, mlir::Value like, Lowering& lowering) {
  if (vector) return lowering.Tensor(vector);
  const DType dtype = ElementTypeOf(like);
  const std::vector<double> numbers(ShapeOf(like)[0], missing);
  if (dtype == DType::kFloat64) return lowering.Constant("vector", HostTensor::FromVector(ShapeOf(like), numbers));
  const std::vector<float> singles(numbers.begin(), numbers.end());
  return lowering.Constant("vector", HostTensor::FromVector(ShapeOf(like), singles));
}

}  // namespace

mlir::Value RepeatedVector(mlir::Value value) {
  auto broadcast = value.getDefiningOp<td::BroadcastOp>();
  const bool one = broadcast && broadcast.getDims().size() == 1;
  if (!one || broadcast.getDims()[0] != td::TypeOf(value).getRank() - 1) return {};
  return broadcast.getInput();
}

mlir::Value BiasBehind(mlir::Operation* product) {
  const bool matrices = mlir::isa<td::MatMulOp>(product) && ShapeOf(product->getResult(0)).size() == 2;
  if ((!matrices && !IsConvolution(product)) || !product->hasOneUse()) return {};
  auto sum = mlir::dyn_cast<td::AddOp>(*product->user_begin());
  if (!sum) return {};
  return RepeatedVector(sum.getLhs() == product->getResult(0) ? sum.getRhs() : sum.getLhs());
}

bool TranslateBatchNorm(mlir::Operation* op, Lowering& lowering) {
  const std::optional<BatchNorm> norm = MatchBatchNorm(op);
  if (!norm.has_value()) return false;
  const mlir::Value result = op->getResult(0);
  if (lowering.options().fold_batch_norm && FoldIntoConvolution(*norm, result, lowering)) return true;
  const TensorId x = lowering.Tensor(norm->x, Layout::kChannelsFirst);
  const std::vector<TensorId> inputs = {x, GivenOr(norm->gamma, 1, norm->mean, lowering),
                                        GivenOr(norm->beta, 0, norm->mean, lowering), lowering.Tensor(norm->mean),
                                        lowering.Tensor(norm->variance)};
  lowering.Set(result, lowering.Node("BatchNormalization", inputs, {{"epsilon", static_cast<float>(norm->epsilon)}}),
               Layout::kChannelsFirst);
  return true;
}

bool TranslateBias(mlir::Operation* op, Lowering& lowering) {
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation* product = operand.getDefiningOp();
    const mlir::Value bias = product == nullptr ? mlir::Value() : BiasBehind(product);
    if (!bias) continue;
    lowering.Begin(product);
    if (IsConvolution(product)) {
      SetConvolution(product, std::nullopt, lowering.Tensor(bias), op->getResult(0), lowering);
    } else {
      SetGemm(product, lowering.Tensor(bias), op->getResult(0), lowering);
    }
    return true;
  }
  return false;
}

}  // namespace tandem::onnx
