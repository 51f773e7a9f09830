// Models that consist of dense layers only.
#include "benchmarks/models/model.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "samples/networks.h"

namespace tandem::benchmarks {

BenchModel LinearModel(const ModelOptions&) {
  return {.name = "linear",
          .default_batch = 32,
          .inputs = {{"x", DType::kFloat32, {1}}, {"y", DType::kFloat32, {1}}},
          .optimizer = optimizers::GradientDescent({.learning_rate = 0.2}),
          .loss = [](const InputTensors& inputs, FlopCounter& flops) {
            flops.Layer(1);
            return losses::MeanSquaredError(inputs.at("y"), networks::Linear(inputs.at("x")));
          }};
}

BenchModel MlpModel(const ModelOptions&) {
  return {.name = "mlp",
          .default_batch = 128,
          .inputs = {{"image", DType::kFloat32, {784}}, {"label", DType::kInt32, {}, 10}},
          .optimizer = optimizers::Momentum({.learning_rate = 0.01, .momentum = 0.9}),
          .loss = [](const InputTensors& inputs, FlopCounter& flops) {
            Tensor x = inputs.at("image");
            for (int i = 0; i < 3; ++i) {
              flops.Layer(static_cast<double>(x.shape()[1]) * 1024);
              x = layers::Dense(x, {.units = 1024, .activation = Relu});
            }
            flops.Layer(1024 * 10);
            return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), layers::Dense(x, {.units = 10}));
          }};
}

}  // namespace tandem::benchmarks
