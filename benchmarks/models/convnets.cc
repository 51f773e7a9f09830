// The convnets of the tutorials, for 28x28 images with one channel and ten classes.
#include "benchmarks/models/model.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "samples/networks.h"

namespace tandem::benchmarks {
namespace {

// Returns the multiply-adds of a 3x3 convolution with `size` x `size` output pixels.
double Conv3x3(double size, double in, double out) { return size * size * 9 * in * out; }

using Network = Tensor (*)(const Tensor&, const networks::NetworkOptions&, SourceLocation);

BenchModel Classifier(std::string name, int64_t batch) {
  return {.name = std::move(name),
          .default_batch = batch,
          .inputs = {{"image", DType::kFloat32, {28, 28, 1}}, {"label", DType::kInt32, {}, 10}}};
}

Tensor ClassifierLoss(const InputTensors& inputs, Network network, bool training) {
  const Tensor logits = network(inputs.at("image"), {.training = training, .logits = true}, SourceLocation::Current());
  return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), logits);
}

}  // namespace

BenchModel ZalandoModel(const ModelOptions& options) {
  BenchModel model = Classifier("s0", 512);
  model.loss = [training = options.training](const InputTensors& inputs, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(Conv3x3(11, 32, 64));
    flops.Layer(Conv3x3(3, 64, 64));
    flops.Layer(576 * 64);
    flops.Layer(64 * 10);
    return ClassifierLoss(inputs, networks::ZalandoConvnet, training);
  };
  model.optimizer = optimizers::Adam({.learning_rate = 1e-3});
  return model;
}

BenchModel MultiGpuModel(const ModelOptions& options) {
  BenchModel model = Classifier("s2", 128);
  model.loss = [training = options.training](const InputTensors& inputs, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(Conv3x3(24, 32, 256));
    flops.Layer(Conv3x3(22, 256, 128));
    flops.Layer(11 * 11 * 128 * 128);
    flops.Layer(128 * 10);
    return ClassifierLoss(inputs, networks::MultiGpuConvnet, training);
  };
  model.optimizer = optimizers::RMSprop({.learning_rate = 1e-3});
  return model;
}

BenchModel MnistModel(const ModelOptions& options) {
  BenchModel model = Classifier("s4", 64);
  model.loss = [training = options.training](const InputTensors& inputs, FlopCounter& flops) {
    flops.Layer(Conv3x3(26, 1, 32));
    flops.Layer(13 * 13 * 32 * 64);
    flops.Layer(64 * 10);
    return ClassifierLoss(inputs, networks::MnistConvnet, training);
  };
  model.optimizer = optimizers::GradientDescent({.learning_rate = 1e-4});
  return model;
}

}  // namespace tandem::benchmarks
