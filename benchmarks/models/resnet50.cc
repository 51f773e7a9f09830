// ResNet-50 v1 (He et al. 2015): as in Keras, the stride of a stage is in the first 1x1 convolution of its first block.
// Convolutions have no bias; each is followed by a batch norm.
#include "benchmarks/models/image_layers.h"
#include "benchmarks/models/model.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::benchmarks {
namespace {

Tensor ConvNorm(FlopCounter& flops, const Tensor& x, bool training, int64_t filters, int64_t size, int64_t stride,
                bool relu) {
  Tensor y = CountedConv2D(flops, x,
                           {.filters = filters,
                            .kernel_size = size,
                            .strides = stride,
                            .padding = Padding::kSame,
                            .use_bias = false,
                            .kernel_initializer = initializers::HeNormal()});
  y = layers::BatchNormalization(y, {.momentum = 0.9, .epsilon = 1e-5, .training = training});
  return relu ? Relu(y) : y;
}

Tensor Bottleneck(FlopCounter& flops, const Tensor& x, bool training, int64_t filters, int64_t stride, bool project) {
  Tensor shortcut = project ? ConvNorm(flops, x, training, 4 * filters, 1, stride, false) : x;
  Tensor y = ConvNorm(flops, x, training, filters, 1, stride, true);
  y = ConvNorm(flops, y, training, filters, 3, 1, true);
  y = ConvNorm(flops, y, training, 4 * filters, 1, 1, false);
  return Relu(y + shortcut);
}

}  // namespace

BenchModel Resnet50Model(const ModelOptions& options) {
  const int64_t size = options.image_size == 0 ? 224 : options.image_size;
  return {.name = "resnet50",
          .default_batch = 16,
          .inputs = {{"image", DType::kFloat32, {size, size, 3}}, {"label", DType::kInt32, {}, 1000}},
          .optimizer = optimizers::Momentum({.learning_rate = 1e-3, .momentum = 0.9}),
          .loss = [training = options.training](const InputTensors& inputs, FlopCounter& flops) {
            Tensor x = ConvNorm(flops, inputs.at("image"), training, 64, 7, 2, true);
            x = layers::MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
            const int blocks[] = {3, 4, 6, 3};
            for (int stage = 0; stage < 4; ++stage) {
              for (int block = 0; block < blocks[stage]; ++block) {
                const bool first = block == 0;
                x = Bottleneck(flops, x, training, 64 << stage, first && stage > 0 ? 2 : 1, first);
              }
            }
            x = ReduceMean(x, {1, 2});
            return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), CountedDense(flops, x, {.units = 1000}));
          }};
}

}  // namespace tandem::benchmarks
