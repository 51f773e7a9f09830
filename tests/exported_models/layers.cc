// Models that have all layers of frontends/layers.h.
#include "frontends/layers.h"

#include "graph/ops.h"
#include "tests/exported_models/models.h"

namespace tandem::exported_models {
namespace {

TensorsByName Activations(TensorsByName& inputs) {
  const Tensor x = inputs["x"];
  TensorsByName y = {{"re_lu", layers::ReLU(x)}, {"leaky", layers::LeakyReLU(x, 0.3)}, {"softmax", layers::Softmax(x)}};
  for (const char* name : {"relu", "sigmoid", "tanh", "elu", "selu", "softplus", "softsign", "swish", "gelu",
                           "hard_sigmoid", "mish", "exponential", "relu6", "leaky_relu", "log_softmax"}) {
    y[std::string("dense_") + name] = layers::Dense(x, {.units = 5, .activation = Activation(name)});
  }
  y["gelu_tanh"] = GeluTanh(x);
  return y;
}

// Images of an odd size, so that "same" padding has an odd rest.
TensorsByName Images(TensorsByName& inputs) {
  const Tensor image = inputs["image"];
  const Padding same = Padding::kSame;
  Tensor x = layers::Conv2D(
      image, {.filters = 4, .kernel_size = {3, 2}, .strides = 2, .padding = same, .activation = Relu});  // [b, 5, 4, 4]
  TensorsByName y = {{"conv", x}};
  y["depthwise"] = layers::DepthwiseConv2D(x, {.kernel_size = 3, .padding = same, .depth_multiplier = 2});
  y["separable"] = layers::SeparableConv2D(x, {.filters = 3, .kernel_size = 2, .strides = {2, 1}, .padding = same});
  y["average"] = layers::AveragePooling2D(x, {.pool_size = 3, .strides = 2, .padding = same});
  y["max"] = layers::MaxPooling2D(x, {.pool_size = {2, 3}, .strides = 2, .padding = same});
  y["up"] = layers::Conv2D(layers::UpSampling2D(x, {.size = {2, 3}}), {.filters = 2, .kernel_size = 1});
  y["norm"] = layers::BatchNormalization(x, {.training = false});
  y["norm_plain"] = layers::BatchNormalization(image, {.center = false, .scale = false, .training = false});
  y["norm_behind"] = Relu(layers::BatchNormalization(layers::Conv2D(x, {.filters = 3, .kernel_size = 2}),
                                                     {.epsilon = 0.1, .training = false}));
  y["layer_norm"] = layers::LayerNormalization(x);
  y["flat_dense"] = layers::Dense(layers::Flatten(x), {.units = 3});
  y["flat"] = Tanh(layers::Flatten(x));
  y["flat_dropout"] = layers::Dense(layers::Dropout(layers::Flatten(x), {.training = false}), {.units = 2});
  y["mean"] = ReduceMean(x, {1, 2});
  y["rows"] = ReduceMax(x, {1});
  y["class"] = ArgMax(x, -1);
  y["probabilities"] = Softmax(x);
  y["padded"] = Pad(x, {0, 1, 0, 0}, {0, 2, 1, 3}, 0.5);
  y["cut"] = Slice(x, {0, 1, 0, 1}, {-1, 2, 3, 2});
  y["both"] = Concat({x, Sigmoid(x)}, -1);
  // What the pixels do to a convolution: a gradient, whose windows leave out the last row.
  const Tensor seen = layers::Conv2D(image, {.filters = 2, .kernel_size = {2, 3}, .strides = 2, .activation = Relu});
  y["saliency"] = image.graph()->Gradients(ReduceSum(seen), {image})[0];
  // Channels that are scaled for each example, and places.
  const Tensor gate = layers::Dense(ReduceMean(x, {1, 2}), {.units = 4, .activation = Sigmoid});
  y["gated"] = x * Reshape(gate, {kBatch, 1, 1, 4});
  y["attended"] = x * Sigmoid(layers::Conv2D(x, {.filters = 1, .kernel_size = 1}));
  return y;
}

TensorsByName Series(TensorsByName& inputs) {
  Tensor x = layers::Conv1D(
      inputs["series"], {.filters = 4, .kernel_size = 3, .strides = 2, .padding = Padding::kSame, .activation = Relu});
  x = layers::Conv1D(x, {.filters = 3, .kernel_size = 2});
  return {{"convolved", x},
          {"norm", layers::BatchNormalization(x, {.training = false})},
          {"dense", layers::Dense(x, {.units = 2, .use_bias = false})},
          {"last", layers::Dense(layers::Flatten(x), {.units = 2})}};
}

TensorsByName Sequences(TensorsByName& inputs) {
  const Tensor ids = inputs["ids"];
  const Tensor keep = NotEqual(ids, 0);
  Tensor x = layers::Embedding(ids, {.input_dim = 10, .output_dim = 6});
  TensorsByName y = {{"embedded", x}};
  y["attention"] = layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = 3});
  y["causal"] = layers::MultiHeadAttention(x, {.num_heads = 3, .key_dim = 2, .value_dim = 4, .use_causal_mask = true});
  y["masked"] = layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = 3, .use_bias = false}, keep);
  y["layer_norm"] = layers::LayerNormalization(x, {.center = false});
  y["layer_norm_only"] = layers::LayerNormalization(x, {.center = false, .scale = false}) * 2.0;
  y["positions"] = x + Broadcast(Iota(x.graph(), {5, 1}, 0, DType::kFloat32), {kBatch, 5, 6});
  y["masked_mean"] = ReduceSum(x * ExpandDims(Cast(keep, DType::kFloat32), 2), {1}) / 5.0;
  return y;
}

}  // namespace

void AddLayers(std::vector<TestModel>& models) {
  models.push_back({"activations", {{"x", DType::kFloat32, {kBatch, 6}}}, Activations});
  models.push_back({"images", {{"image", DType::kFloat32, {kBatch, 9, 7, 3}}}, Images});
  models.push_back({"series", {{"series", DType::kFloat32, {kBatch, 9, 2}}}, Series});
  models.push_back({"sequences", {{"ids", DType::kInt32, {kBatch, 5}}}, Sequences});
}

}  // namespace tandem::exported_models
