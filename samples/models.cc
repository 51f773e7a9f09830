#include "samples/models.h"

#include "absl/strings/str_cat.h"
#include "samples/networks.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/frontends/schedules.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

// Returns the rate in `params`, or else `usual`. With the param "decay_steps" the rate falls to 0 along a cosine.
LearningRate MakeLearningRate(const Params& params, double usual) {
  double rate = params.Number("learning_rate", 0);
  if (rate <= 0) rate = usual;
  const double decay_steps = params.Number("decay_steps", 0);
  if (decay_steps <= 0) return rate;
  return schedules::CosineDecay({.initial_learning_rate = rate, .decay_steps = decay_steps});
}

Optimizer MakeOptimizer(const Params& params) {
  const std::string name = params.String("optimizer", "adam");
  if (name == "sgd") return optimizers::SGD({.learning_rate = MakeLearningRate(params, 0.01)});
  if (name == "momentum") {
    return optimizers::Momentum({.learning_rate = MakeLearningRate(params, 0.01), .momentum = 0.9});
  }
  if (name == "rmsprop") return optimizers::RMSprop({.learning_rate = MakeLearningRate(params, 1e-3)});
  return optimizers::Adam({.learning_rate = MakeLearningRate(params, 1e-3)});
}

// Returns the spec of a training or an evaluation, which is made in the same way for all three models.
EstimatorSpec Finish(const Tensor& predicted, const Tensor& loss, const Tensor& labels, Mode mode,
                     const Params& params) {
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, predicted)}});
  return EstimatorSpec::Train(loss, MakeOptimizer(params).Minimize(loss));
}

EstimatorSpec Zalando(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 32, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 3, .activation = Relu});
  x = layers::Dense(layers::Flatten(x), {.units = 64, .activation = Relu});
  // The tutorial's model has no dropout. If the params have a dropout rate, dropout precedes the last layer.
  if (const double rate = params.Number("dropout", -1); rate > 0) {
    x = layers::Dropout(x, {.rate = rate, .training = mode == Mode::kTrain});
  }
  Tensor probabilities = Softmax(layers::Dense(x, {.units = 10}));
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"probabilities", probabilities}});
  return Finish(probabilities, losses::CategoricalCrossEntropy(labels, probabilities), labels, mode, params);
}

networks::NetworkOptions OptionsFor(Mode mode, const Params& params) {
  networks::NetworkOptions options{.training = mode == Mode::kTrain};
  if (const double dropout = params.Number("dropout", -1); dropout >= 0) options.dropout = dropout;
  return options;
}

EstimatorSpec Mnist(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor logits = networks::MnistConvnet(features["image"], OptionsFor(mode, params));
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  return Finish(logits, losses::SparseSoftmaxCrossEntropy(labels, logits), labels, mode, params);
}

EstimatorSpec MultiGpu(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor probabilities = networks::MultiGpuConvnet(features["image"], OptionsFor(mode, params));
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"probabilities", probabilities}});
  return Finish(probabilities, losses::CategoricalCrossEntropy(labels, probabilities), labels, mode, params);
}

}  // namespace

absl::StatusOr<SampleModel> SampleModelByName(const std::string& name) {
  if (name == "zalando") return SampleModel{name, Zalando, /*one_hot_labels=*/true, "adam"};
  if (name == "mnist") return SampleModel{name, Mnist, /*one_hot_labels=*/false, "sgd"};
  if (name == "multi_gpu") return SampleModel{name, MultiGpu, /*one_hot_labels=*/true, "rmsprop"};
  return absl::InvalidArgumentError(
      absl::StrCat("there is no model \"", name, "\"; choose zalando, mnist or multi_gpu"));
}

absl::Status CheckOptimizerName(const std::string& name) {
  for (const char* known : {"adam", "momentum", "sgd", "rmsprop"}) {
    if (name == known) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no optimizer \"", name, "\"; choose adam, momentum, sgd or rmsprop"));
}

}  // namespace tandem
