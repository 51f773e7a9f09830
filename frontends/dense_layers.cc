// Dense, Flatten, Dropout and the activations as layers.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/layer_scope.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::layers {

Tensor Dense(const Tensor& x, const DenseOptions& options, SourceLocation loc) {
  LayerScope layer(x, "Dense", "dense", options.name, 0, loc);
  if (!layer.ok() || !layer.CheckPositive("units", options.units)) return layer.Failed();
  if (x.rank() < 2) {
    return layer.Fail(absl::StrCat("needs an input of shape [b, ..., features], got ", ShapeString(x.shape())));
  }
  Tensor kernel = layer.Weight("kernel", {x.shape().back(), options.units}, options.kernel_initializer,
                               options.trainable, options.kernel_regularizer);
  if (!layer.ok()) return layer.Failed();
  Tensor y = MatMul(x, kernel, false, false, loc);
  if (options.use_bias) {
    Tensor bias =
        layer.Weight("bias", {options.units}, options.bias_initializer, options.trainable, options.bias_regularizer);
    if (!layer.ok()) return layer.Failed();
    y = Add(y, bias, loc);
  }
  return options.activation(y, loc);
}

Tensor Flatten(const Tensor& x, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* graph = frontends::CommonGraph("Flatten", {{"x", x}}, loc, &failed);
  if (graph == nullptr) return failed;
  Shape shape = x.shape();
  if (shape.empty()) return graph->FailAt("Flatten", "needs a batch of inputs, got a scalar", loc);
  NameScope scope(graph, graph->UniqueName("flatten"));
  return Reshape(x, {shape[0], NumElements(absl::MakeConstSpan(shape).subspan(1))}, loc);
}

Tensor Dropout(const Tensor& x, const DropoutOptions& options, SourceLocation loc) {
  LayerScope layer(x, "Dropout", "dropout", options.name, 0, loc);
  if (!layer.ok()) return layer.Failed();
  if (!(options.rate >= 0 && options.rate < 1)) {
    return layer.Fail(absl::StrCat("`rate` must be in [0, 1), got ", options.rate));
  }
  if (!options.training.has_value()) {
    return layer.Fail("`training` is not set; pass .training = mode == Mode::kTrain");
  }
  if (!*options.training || options.rate == 0) return x;
  Tensor uniform = RandomUniform(layer.graph(), x.shape(), loc);
  Tensor keep =
      GreaterEqual(uniform, frontends::ScalarConstant(layer.graph(), options.rate, uniform.dtype(), loc), loc);
  return Mul(x, Mul(Cast(keep, x.dtype(), loc), 1 / (1 - options.rate), loc), loc);
}

Tensor ReLU(const Tensor& x, SourceLocation loc) {
  LayerScope layer(x, "ReLU", "re_lu", "", 0, loc);
  return layer.ok() ? Relu(x, loc) : layer.Failed();
}

Tensor LeakyReLU(const Tensor& x, double alpha, SourceLocation loc) {
  LayerScope layer(x, "LeakyReLU", "leaky_re_lu", "", 0, loc);
  if (layer.ok() && !std::isfinite(alpha)) layer.Fail("`alpha` must be finite");
  return layer.ok() ? LeakyRelu(x, alpha, loc) : layer.Failed();
}

Tensor Softmax(const Tensor& x, SourceLocation loc) {
  LayerScope layer(x, "Softmax", "softmax", "", 0, loc);
  return layer.ok() ? tandem::Softmax(x, loc) : layer.Failed();
}

}  // namespace tandem::layers
