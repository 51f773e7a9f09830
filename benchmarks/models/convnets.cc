// The convnets of the tutorials, on 28x28 images of one channel with ten classes.
#include "benchmarks/models/model.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "samples/networks.h"

namespace tandem::benchmarks {
namespace {

// Multiply-adds of a 3x3 convolution onto `size` x `size` pixels.
double Conv3x3(double size, double in, double out) { return size * size * 9 * in * out; }

using Network = Tensor (*)(const Tensor&, const networks::NetworkOptions&, SourceLocation);

Tensor ClassifierLoss(GraphBuilder& graph, Network network, bool training) {
  Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 28, 28, 1});
  Tensor label = graph.Input("label", DType::kInt32, {kBatch});
  Tensor logits = network(image, {.training = training, .logits = true}, SourceLocation::Current());
  Tensor loss = losses::SparseSoftmaxCrossEntropy(label, logits);
  graph.Output("loss", loss);
  return loss;
}

BenchModel Classifier(std::string name, int64_t batch) {
  return {.name = std::move(name),
          .default_batch = batch,
          .inputs = {{"image", DType::kFloat32, {28, 28, 1}}, {"label", DType::kInt32, {}, 10}}};
}

}  // namespace

BenchModel ZalandoModel(const ModelOptions& options) {
  BenchModel model = Classifier("s0", 512);
  model.build = [training = options.training](GraphBuilder& graph, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(Conv3x3(11, 32, 64));
    flops.Layer(Conv3x3(3, 64, 64));
    flops.Layer(576 * 64);
    flops.Layer(64 * 10);
    Tensor loss = ClassifierLoss(graph, networks::ZalandoConvnet, training);
    if (training) optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss);
  };
  return model;
}

BenchModel MultiGpuModel(const ModelOptions& options) {
  BenchModel model = Classifier("s2", 128);
  model.build = [training = options.training](GraphBuilder& graph, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(Conv3x3(24, 32, 256));
    flops.Layer(Conv3x3(22, 256, 128));
    flops.Layer(11 * 11 * 128 * 128);
    flops.Layer(128 * 10);
    Tensor loss = ClassifierLoss(graph, networks::MultiGpuConvnet, training);
    if (training) optimizers::RMSprop({.learning_rate = 1e-3}).Minimize(loss);
  };
  return model;
}

BenchModel MnistModel(const ModelOptions& options) {
  BenchModel model = Classifier("s4", 64);
  model.build = [training = options.training](GraphBuilder& graph, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(13 * 13 * 32 * 64);
    flops.Layer(64 * 10);
    Tensor loss = ClassifierLoss(graph, networks::MnistConvnet, training);
    if (training) optimizers::GradientDescent({.learning_rate = 1e-4}).Minimize(loss);
  };
  return model;
}

}  // namespace tandem::benchmarks
