// The networks of the samples and benchmarks.
#include "samples/networks.h"

#include "frontends/layers.h"
#include "graph/ops.h"
#include "tests/exported_models/models.h"

namespace tandem::exported_models {
namespace {

ComponentSpec Image(int64_t size, int64_t channels) {
  return {"image", DType::kFloat32, {kBatch, size, size, channels}};
}

Tensor ConvNorm(const Tensor& x, int64_t filters, int64_t size, int64_t stride) {
  const Tensor y = layers::Conv2D(
      x, {.filters = filters, .kernel_size = size, .strides = stride, .padding = Padding::kSame, .use_bias = false});
  return layers::BatchNormalization(y, {.epsilon = 1e-5, .training = false});
}

Tensor Bottleneck(const Tensor& x, int64_t filters, int64_t stride, bool project) {
  const Tensor shortcut = project ? ConvNorm(x, 4 * filters, 1, stride) : x;
  Tensor y = Relu(ConvNorm(x, filters, 1, stride));
  y = Relu(ConvNorm(y, filters, 3, 1));
  return Relu(ConvNorm(y, 4 * filters, 1, 1) + shortcut);
}

// ResNet-50 v1, as benchmarks/models/resnet50.cc trains it.
Tensor Resnet50(const Tensor& image) {
  Tensor x = Relu(ConvNorm(image, 64, 7, 2));
  x = layers::MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < blocks[stage]; ++block) {
      x = Bottleneck(x, 64 << stage, block == 0 && stage > 0 ? 2 : 1, block == 0);
    }
  }
  return layers::Dense(ReduceMean(x, {1, 2}), {.units = 1000});
}

// The encoder of benchmarks/models/transformer.cc.
Tensor Transformer(const Tensor& ids) {
  Tensor x = layers::Embedding(ids, {.input_dim = 8192, .output_dim = 256});
  for (int i = 0; i < 2; ++i) {
    const Tensor attention = layers::MultiHeadAttention(x, {.num_heads = 4, .key_dim = 64});
    const Tensor y = layers::LayerNormalization(x + attention, {.epsilon = 1e-5});
    const Tensor hidden = layers::Dense(y, {.units = 1024, .activation = Gelu});
    x = layers::LayerNormalization(y + layers::Dense(hidden, {.units = 256}), {.epsilon = 1e-5});
  }
  return layers::Dense(ReduceMean(x, {1}), {.units = 10});
}

Tensor Mlp(const Tensor& image) {
  Tensor x = image;
  for (int i = 0; i < 3; ++i) x = layers::Dense(x, {.units = 1024, .activation = Relu});
  return layers::Dense(x, {.units = 10});
}

}  // namespace

void AddNetworks(bool full, std::vector<TestModel>& models) {
  const int64_t size = full ? 224 : 32, tokens = full ? 128 : 12;
  const auto add = [&](const std::string& name, const ComponentSpec& feature,
                       const std::function<Tensor(const Tensor&)>& network) {
    models.push_back({name, {feature}, [=](TensorsByName& inputs) -> TensorsByName {
                        return {{"output", network(inputs[feature.name])}};
                      }});
  };
  add("zalando", Image(28, 1), [](const Tensor& x) { return networks::ZalandoConvnet(x); });
  add("mnist", Image(28, 1), [](const Tensor& x) { return networks::MnistConvnet(x); });
  add("multi_gpu", Image(28, 1), [](const Tensor& x) { return networks::MultiGpuConvnet(x); });
  add("small_pictures", Image(size, 3), [](const Tensor& x) { return networks::SmallPictureConvnet(x); });
  add("linear", {"x", DType::kFloat32, {kBatch, 3}}, [](const Tensor& x) { return networks::Linear(x); });
  add("vgg16", Image(size, 3), [](const Tensor& x) { return networks::Vgg16(x, /*train_all=*/false); });
  add("mlp", {"image", DType::kFloat32, {kBatch, 784}}, Mlp);
  add("transformer", {"ids", DType::kInt32, {kBatch, tokens}}, Transformer);
  add("resnet50", Image(size, 3), Resnet50);
}

}  // namespace tandem::exported_models
