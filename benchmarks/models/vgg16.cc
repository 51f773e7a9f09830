// VGG16 without its top (Simonyan and Zisserman 2014, configuration D), Flatten and Dense 4, as trained in the second
// part of scenario S0's tutorial. Frozen are the base's layers[:-4], which are all layers except the three convolutions
// of the last block.
#include "benchmarks/models/image_layers.h"
#include "benchmarks/models/model.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"

namespace tandem::benchmarks {

BenchModel Vgg16Model(const ModelOptions& options) {
  const int64_t size = options.image_size == 0 ? 224 : options.image_size;
  const bool all_layers = options.all_layers;
  return {.name = all_layers ? "vgg16_all" : "vgg16",
          .default_batch = 8,
          .inputs = {{"image", DType::kFloat32, {size, size, 3}}, {"label", DType::kInt32, {}, 4}},
          .optimizer = optimizers::Momentum({.learning_rate = 1e-4, .momentum = 0.9}),
          .loss = [all_layers](const InputTensors& inputs, FlopCounter& flops) {
            struct Block {
              int convolutions;
              int64_t filters;
            };
            const Block blocks[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
            Tensor x = inputs.at("image");
            for (const Block& block : blocks) {
              const bool last = &block == std::end(blocks) - 1;
              for (int i = 0; i < block.convolutions; ++i) {
                x = CountedConv2D(flops, x,
                                  {.filters = block.filters,
                                   .kernel_size = 3,
                                   .padding = Padding::kSame,
                                   .activation = Relu,
                                   .kernel_initializer = initializers::HeNormal(),
                                   .trainable = all_layers || last});
              }
              x = layers::MaxPooling2D(x, {.pool_size = 2});
            }
            Tensor logits = CountedDense(flops, layers::Flatten(x), {.units = 4});
            return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), logits);
          }};
}

}  // namespace tandem::benchmarks
