// Models of dense layers only.
#include "benchmarks/models/model.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "samples/networks.h"

namespace tandem::benchmarks {

BenchModel LinearModel(const ModelOptions& options) {
  return {.name = "linear",
          .default_batch = 32,
          .inputs = {{"x", DType::kFloat32, {1}}, {"y", DType::kFloat32, {1}}},
          .build = [training = options.training](GraphBuilder& graph, FlopCounter& flops) {
            flops.Layer(1);
            Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 1});
            Tensor y = graph.Input("y", DType::kFloat32, {kBatch, 1});
            Tensor loss = losses::MeanSquaredError(y, networks::Linear(x));
            graph.Output("loss", loss);
            if (training) optimizers::GradientDescent({.learning_rate = 0.2}).Minimize(loss);
          }};
}

BenchModel MlpModel(const ModelOptions& options) {
  return {.name = "mlp",
          .default_batch = 128,
          .inputs = {{"image", DType::kFloat32, {784}}, {"label", DType::kInt32, {}, 10}},
          .build = [training = options.training](GraphBuilder& graph, FlopCounter& flops) {
            Tensor x = graph.Input("image", DType::kFloat32, {kBatch, 784});
            Tensor label = graph.Input("label", DType::kInt32, {kBatch});
            for (int i = 0; i < 3; ++i) {
              flops.Layer(static_cast<double>(x.shape()[1]) * 1024);
              x = layers::Dense(x, {.units = 1024, .activation = Relu});
            }
            flops.Layer(1024 * 10);
            Tensor loss = losses::SparseSoftmaxCrossEntropy(label, layers::Dense(x, {.units = 10}));
            graph.Output("loss", loss);
            if (training) optimizers::Momentum({.learning_rate = 0.01, .momentum = 0.9}).Minimize(loss);
          }};
}

}  // namespace tandem::benchmarks
