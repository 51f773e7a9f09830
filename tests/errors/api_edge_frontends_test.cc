// Layers, losses and metrics with arguments that they cannot use.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "frontends/activations.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/regularizers.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Row> Layers() {
  using namespace layers;  // NOLINT: what the rows are about
  Table t;
  // Every layer with inputs that no layer takes.
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> all = {
      {"Conv2D", [](const Tensor& x) { return Conv2D(x, {.filters = 2, .kernel_size = 3}); }},
      {"Conv1D", [](const Tensor& x) { return Conv1D(x, {.filters = 2, .kernel_size = 3}); }},
      {"DepthwiseConv2D", [](const Tensor& x) { return DepthwiseConv2D(x, {.kernel_size = 3}); }},
      {"SeparableConv2D", [](const Tensor& x) { return SeparableConv2D(x, {.filters = 2, .kernel_size = 3}); }},
      {"MaxPooling2D", [](const Tensor& x) { return MaxPooling2D(x); }},
      {"AveragePooling2D", [](const Tensor& x) { return AveragePooling2D(x); }},
      {"UpSampling2D", [](const Tensor& x) { return UpSampling2D(x); }},
      {"Flatten", [](const Tensor& x) { return Flatten(x); }},
      {"Dense", [](const Tensor& x) { return Dense(x, {.units = 2}); }},
      {"Dropout", [](const Tensor& x) { return Dropout(x, {.training = true}); }},
      {"BatchNormalization", [](const Tensor& x) { return BatchNormalization(x, {.training = true}); }},
      {"LayerNormalization", [](const Tensor& x) { return LayerNormalization(x); }},
      {"Embedding", [](const Tensor& x) { return Embedding(x, {.input_dim = 5, .output_dim = 2}); }},
      {"MultiHeadAttention", [](const Tensor& x) { return MultiHeadAttention(x, {.num_heads = 2, .key_dim = 2}); }},
      {"ReLU", [](const Tensor& x) { return ReLU(x); }},
      {"LeakyReLU", [](const Tensor& x) { return LeakyReLU(x); }},
      {"Softmax", [](const Tensor& x) { return layers::Softmax(x); }},
  };
  for (const auto& [name, layer] : all) {
    const auto call = layer;
    t.Add(
        name, "an empty tensor", [=](World& w) { return call(w.none); }, "is an empty Tensor");
    t.Add(
        name, "a tensor of a graph that is gone", [=](World& w) { return call(w.gone); }, "gone");
    t.Add(name, "a scalar", [=](World& w) { return call(w.scalar); });
    if (name == std::string("Flatten")) continue;
    t.Add(name, "booleans", [=](World& w) { return call(w.flags); });
  }
  t.Add(
      "Conv2D", "no options", [](World& w) { return Conv2D(w.image, {}); }, "`filters` must be at least 1");
  t.Add(
      "Conv2D", "no window", [](World& w) { return Conv2D(w.image, {.filters = 2}); }, "`kernel_size`");
  t.Add("Conv2D", "negative filters", [](World& w) { return Conv2D(w.image, {.filters = -2, .kernel_size = 1}); });
  t.Add("Conv2D", "huge filters", [](World& w) { return Conv2D(w.image, {.filters = kHuge, .kernel_size = 1}); });
  t.Add(
      "Conv2D", "strides of 0",
      [](World& w) { return Conv2D(w.image, {.filters = 2, .kernel_size = 1, .strides = 0}); }, "`strides`");
  t.Add(
      "Conv2D", "a window that is too large",
      [](World& w) { return Conv2D(w.image, {.filters = 2, .kernel_size = 9}); }, "does not fit");
  t.Add(
      "Conv2D", "no initialiser",
      [](World& w) { return Conv2D(w.image, {.filters = 2, .kernel_size = 1, .kernel_initializer = nullptr}); },
      "`kernel_initializer` is empty");
  t.Add(
      "Conv2D", "a null activation",
      [](World& w) {
        return Conv2D(w.image, {.filters = 2, .kernel_size = 1, .activation = std::function<Tensor(const Tensor&)>()});
      },
      "null", "Activation");
  auto steps = [](World& w) { return Reshape(w.image, {kBatch, 8, 24}); };
  t.Add(
      "Conv1D", "an image", [](World& w) { return Conv1D(w.image, {.filters = 2, .kernel_size = 1}); },
      "[b, steps, channels]");
  t.Add(
      "Conv1D", "no options", [=](World& w) { return Conv1D(steps(w), {}); }, "`filters` must be at least 1");
  t.Add(
      "Conv1D", "no window", [=](World& w) { return Conv1D(steps(w), {.filters = 2}); }, "`kernel_size`");
  t.Add(
      "Conv1D", "huge filters", [=](World& w) { return Conv1D(steps(w), {.filters = kHuge, .kernel_size = 1}); },
      "at most");
  t.Add(
      "Conv1D", "strides of 0",
      [=](World& w) { return Conv1D(steps(w), {.filters = 2, .kernel_size = 1, .strides = 0}); }, "`strides`");
  t.Add(
      "Conv1D", "a window that is too large",
      [=](World& w) { return Conv1D(steps(w), {.filters = 2, .kernel_size = 9}); }, "does not fit");
  t.Add(
      "Conv1D", "no initialiser",
      [=](World& w) { return Conv1D(steps(w), {.filters = 2, .kernel_size = 1, .kernel_initializer = nullptr}); },
      "`kernel_initializer` is empty");
  t.Add(
      "DepthwiseConv2D", "no options", [](World& w) { return DepthwiseConv2D(w.image, {}); }, "`kernel_size`");
  t.Add(
      "DepthwiseConv2D", "no channels",
      [](World& w) { return DepthwiseConv2D(w.image, {.kernel_size = 1, .depth_multiplier = 0}); },
      "`depth_multiplier` must be at least 1");
  t.Add("DepthwiseConv2D", "a huge multiplier",
        [](World& w) { return DepthwiseConv2D(w.image, {.kernel_size = 1, .depth_multiplier = kHuge}); });
  t.Add(
      "DepthwiseConv2D", "a window that is too large",
      [](World& w) { return DepthwiseConv2D(w.image, {.kernel_size = 9}); }, "does not fit");
  t.Add(
      "DepthwiseConv2D", "no initialiser",
      [](World& w) { return DepthwiseConv2D(w.image, {.kernel_size = 1, .depthwise_initializer = nullptr}); },
      "`depthwise_initializer` is empty");
  t.Add(
      "SeparableConv2D", "no options", [](World& w) { return SeparableConv2D(w.image, {}); },
      "`filters` must be at least 1");
  t.Add(
      "SeparableConv2D", "no pointwise initialiser",
      [](World& w) {
        return SeparableConv2D(w.image, {.filters = 2, .kernel_size = 1, .pointwise_initializer = nullptr});
      },
      "`pointwise_initializer` is empty");
  t.Add(
      "MaxPooling2D", "no window", [](World& w) { return MaxPooling2D(w.image, {.pool_size = 0}); }, "`pool_size`");
  t.Add(
      "MaxPooling2D", "negative strides", [](World& w) { return MaxPooling2D(w.image, {.strides = -1}); }, "`strides`");
  t.Add("AveragePooling2D", "a huge window", [](World& w) { return AveragePooling2D(w.image, {.pool_size = kHuge}); });
  t.Add(
      "UpSampling2D", "no columns",
      [](World& w) {
        return UpSampling2D(w.image, {.size = {2, 0}});
      },
      "`size` must be at least 1, got 0");
  t.Add(
      "UpSampling2D", "huge", [](World& w) { return UpSampling2D(w.image, {.size = kHuge}); }, "`size`");
  t.Add(
      "Dense", "no options", [](World& w) { return Dense(w.x, {}); }, "`units` must be at least 1");
  t.Add(
      "Dense", "huge units", [](World& w) { return Dense(w.x, {.units = kHuge}); }, "at most");
  t.Add(
      "Dense", "a name twice",
      [](World& w) { return Dense(Dense(w.x, {.units = 2, .name = "a"}), {.units = 2, .name = "a"}); },
      "named \"a\" already");
  t.Add(
      "Dense", "a penalty below 0", [](World& w) { return Dense(w.x, {.units = 2, .kernel_regularizer = L2(-1)}); },
      "factor", "Regularizer");
  t.Add(
      "Dense", "an initialiser without numbers",
      [](World& w) { return Dense(w.x, {.units = 2, .kernel_initializer = initializers::Constant(kNaN)}); }, "finite");
  t.Add(
      "Dropout", "no `training`", [](World& w) { return Dropout(w.x, {}); }, "`training` is not set");
  t.Add(
      "Dropout", "rate 1", [](World& w) { return Dropout(w.x, {.rate = 1, .training = true}); }, "`rate`");
  t.Add(
      "Dropout", "no rate", [](World& w) { return Dropout(w.x, {.rate = kNaN, .training = true}); }, "`rate`");
  t.Add(
      "BatchNormalization", "no `training`", [](World& w) { return BatchNormalization(w.x, {}); }, "`training`");
  t.Add(
      "BatchNormalization", "momentum 2",
      [](World& w) { return BatchNormalization(w.x, {.momentum = 2, .training = true}); }, "`momentum`");
  t.Add(
      "BatchNormalization", "epsilon 0",
      [](World& w) { return BatchNormalization(w.x, {.epsilon = 0, .training = true}); }, "`epsilon`");
  t.Add(
      "LayerNormalization", "no epsilon", [](World& w) { return LayerNormalization(w.x, {.epsilon = kNaN}); },
      "`epsilon`");
  t.Add(
      "Embedding", "no rows", [](World& w) { return Embedding(w.ints, {.output_dim = 2}); }, "`input_dim`");
  t.Add(
      "Embedding", "negative columns", [](World& w) { return Embedding(w.ints, {.input_dim = 2, .output_dim = -2}); },
      "`output_dim`");
  t.Add(
      "Embedding", "a huge table",
      [](World& w) { return Embedding(w.ints, {.input_dim = 1 << 30, .output_dim = 1 << 30}); }, "more elements");
  t.Add("Embedding", "floats", [](World& w) { return Embedding(w.x, {.input_dim = 2, .output_dim = 2}); });
  auto words = [](World& w) { return Embedding(w.ints, {.input_dim = 5, .output_dim = 6}); };
  t.Add("MultiHeadAttention", "no heads", [=](World& w) { return MultiHeadAttention(words(w), {.key_dim = 2}); });
  t.Add("MultiHeadAttention", "no keys", [=](World& w) { return MultiHeadAttention(words(w), {.num_heads = 2}); });
  t.Add(
      "MultiHeadAttention", "negative values",
      [=](World& w) { return MultiHeadAttention(words(w), {.num_heads = 2, .key_dim = 2, .value_dim = -1}); },
      "`value_dim`");
  t.Add(
      "MultiHeadAttention", "a mask of numbers",
      [=](World& w) { return MultiHeadAttention(words(w), {.num_heads = 2, .key_dim = 2}, w.x); }, "boolean mask");
  t.Add(
      "MultiHeadAttention", "a mask that is gone",
      [=](World& w) { return MultiHeadAttention(words(w), {.num_heads = 2, .key_dim = 2}, w.gone); }, "mask");
  t.Add(
      "MultiHeadAttention", "dropout without `training`",
      [=](World& w) { return MultiHeadAttention(words(w), {.num_heads = 2, .key_dim = 2, .dropout = 0.5}); },
      "`training`", "Dropout");
  t.Add(
      "LeakyReLU", "no slope", [](World& w) { return LeakyReLU(w.x, kInf); }, "`alpha`");
  return t.rows();
}

std::vector<Row> Losses() {
  using namespace losses;  // NOLINT: what the rows are about
  Table t;
  using Loss = Tensor (*)(const Tensor&, const Tensor&, const LossOptions&, SourceLocation);
  for (const auto& [name, f] :
       std::vector<std::pair<const char*, Loss>>{{"SparseSoftmaxCrossEntropy", losses::SparseSoftmaxCrossEntropy},
                                                 {"SoftmaxCrossEntropy", losses::SoftmaxCrossEntropy},
                                                 {"CategoricalCrossEntropy", losses::CategoricalCrossEntropy},
                                                 {"SparseCategoricalCrossEntropy", SparseCategoricalCrossEntropy},
                                                 {"BinaryCrossEntropy", BinaryCrossEntropy},
                                                 {"MeanSquaredError", losses::MeanSquaredError},
                                                 {"MeanAbsoluteError", MeanAbsoluteError},
                                                 {"MeanAbsolutePercentageError", MeanAbsolutePercentageError},
                                                 {"MeanSquaredLogarithmicError", MeanSquaredLogarithmicError},
                                                 {"LogCosh", LogCosh},
                                                 {"Poisson", Poisson},
                                                 {"Hinge", Hinge},
                                                 {"SquaredHinge", SquaredHinge},
                                                 {"CategoricalHinge", CategoricalHinge},
                                                 {"KLDivergence", KLDivergence},
                                                 {"CosineSimilarity", CosineSimilarity}}) {
    const Loss loss = f;
    const SourceLocation here = {"model.cc", 12};
    t.Add(
        name, "nothing", [=](World& w) { return loss(w.none, w.none, {}, here); }, "`labels` is an empty Tensor");
    t.Add(
        name, "no labels", [=](World& w) { return loss(w.none, w.x, {}, here); }, "`labels` is an empty Tensor");
    t.Add(
        name, "no predictions", [=](World& w) { return loss(w.x, w.none, {}, here); }, "is an empty Tensor");
    t.Add(
        name, "another graph", [=](World& w) { return loss(w.x, w.foreign, {}, here); }, "another graph");
    t.Add(
        name, "labels that are gone", [=](World& w) { return loss(w.gone, w.x, {}, here); }, "gone");
    t.Add(name, "integers as predictions", [=](World& w) { return loss(w.ints, w.ints, {}, here); });
    t.Add(name, "other shapes", [=](World& w) { return loss(w.image, w.x, {}, here); });
    t.Add(name, "scalars", [=](World& w) { return loss(w.ints, w.scalar, {}, here); });
  }
  t.Add(
      "SparseSoftmaxCrossEntropy", "weights that are gone",
      [](World& w) { return losses::SparseSoftmaxCrossEntropy(w.labels, w.x, {.weights = w.gone}); }, "`weights`",
      "ComputeWeightedLoss");
  t.Add(
      "SoftmaxCrossEntropy", "smoothing 2",
      [](World& w) { return losses::SoftmaxCrossEntropy(w.x, w.x, {.label_smoothing = 2}); }, "`label_smoothing`");
  t.Add(
      "CategoricalCrossEntropy", "smoothing NaN",
      [](World& w) { return CategoricalCrossEntropy(w.x, w.x, {.label_smoothing = kNaN}); }, "`label_smoothing`");
  t.Add(
      "SparseCategoricalCrossEntropy", "one-hot labels",
      [](World& w) { return SparseCategoricalCrossEntropy(w.x, w.x); }, "class numbers", "SparseSoftmaxCrossEntropy");
  t.Add(
      "BinaryCrossEntropy", "smoothing 2",
      [](World& w) { return BinaryCrossEntropy(w.x, w.x, {.label_smoothing = 2}); }, "`label_smoothing`");
  t.Add(
      "BinaryCrossEntropy", "class numbers", [](World& w) { return BinaryCrossEntropy(w.labels, w.x); }, "OneHot");
  t.Add(
      "CosineSimilarity", "numbers per example",
      [](World& w) { return CosineSimilarity(w.labels, ReduceMean(w.x, {1})); }, "[b, n]");
  t.Add(
      "Huber", "nothing", [](World& w) { return Huber(w.none, w.none); }, "`labels` is an empty Tensor");
  t.Add(
      "Huber", "no delta", [](World& w) { return Huber(w.x, w.x, {.delta = 0}); }, "`delta`");
  t.Add(
      "Huber", "a delta without end", [](World& w) { return Huber(w.x, w.x, {.delta = kInf}); }, "`delta`");
  for (const auto& [name, loss] : std::vector<
           std::pair<const char*, Tensor (*)(const Tensor&, const Tensor&, const FocalOptions&, SourceLocation)>>{
           {"BinaryFocalCrossEntropy", BinaryFocalCrossEntropy},
           {"CategoricalFocalCrossEntropy", CategoricalFocalCrossEntropy}}) {
    const SourceLocation here = {"model.cc", 12};
    const auto focal = loss;
    t.Add(
        name, "no labels", [=](World& w) { return focal(w.none, w.x, {}, here); }, "`labels` is an empty Tensor");
    t.Add(
        name, "other shapes", [=](World& w) { return focal(w.image, w.x, {}, here); }, "");
    t.Add(
        name, "integers", [=](World& w) { return focal(w.ints, w.ints, {}, here); }, "float");
    t.Add(
        name, "gamma -1", [=](World& w) { return focal(w.x, w.x, {.gamma = -1}, here); }, "`gamma`");
    t.Add(
        name, "alpha 2", [=](World& w) { return focal(w.x, w.x, {.alpha = 2}, here); }, "`alpha`");
    t.Add(
        name, "smoothing NaN", [=](World& w) { return focal(w.x, w.x, {.label_smoothing = kNaN}, here); },
        "`label_smoothing`");
  }
  t.Add(
      "ClassWeights", "nothing", [](World& w) { return ClassWeights(w.none, {1}); }, "`labels` is an empty Tensor");
  t.Add(
      "ClassWeights", "no weights", [](World& w) { return ClassWeights(w.labels, {}); }, "empty");
  t.Add(
      "ClassWeights", "a negative weight",
      [](World& w) {
        return ClassWeights(w.labels, {1, -2});
      },
      "weights[1]");
  t.Add(
      "ClassWeights", "one-hot labels of other classes",
      [](World& w) {
        return ClassWeights(w.x, {1, 2, 3});
      },
      "one-hot [b,3]");
  t.Add(
      "ComputeWeightedLoss", "nothing", [](World& w) { return ComputeWeightedLoss(w.none); }, "is an empty Tensor");
  t.Add(
      "ComputeWeightedLoss", "weights of another graph",
      [](World& w) { return ComputeWeightedLoss(w.x, {.weights = w.foreign}); }, "another graph");
  t.Add(
      "ComputeWeightedLoss", "weights of another shape",
      [](World& w) { return ComputeWeightedLoss(w.x, {.weights = w.image}); }, "does not fit");
  t.Add(
      "ComputeWeightedLoss", "booleans", [](World& w) { return ComputeWeightedLoss(w.flags); }, "", "reduce");
  t.Add(
      "RegularizationLoss", "no graph", [](World&) { return RegularizationLoss(nullptr); }, "null");
  return t.rows();
}

std::vector<Row> Metrics() {
  Table t;
  auto both = [&t](const char* name, const char* what, std::function<Metric(World&)> call, const char* says = "",
                   const char* named = "") {
    t.Add(
        name, what, [=](World& w) { return call(w).total; }, says, named);
    t.Add(
        name, what, [=](World& w) { return call(w).count; }, says, named);
  };
  both(
      "Accuracy", "nothing", [](World& w) { return metrics::Accuracy(w.none, w.none); }, "`labels` is an empty Tensor");
  both(
      "Accuracy", "no predictions", [](World& w) { return metrics::Accuracy(w.labels, w.none); }, "is an empty Tensor");
  both(
      "Accuracy", "another graph", [](World& w) { return metrics::Accuracy(w.labels, w.foreign); }, "another graph");
  both(
      "Accuracy", "images", [](World& w) { return metrics::Accuracy(w.labels, w.image); }, "`predictions`");
  both(
      "Accuracy", "scalars", [](World& w) { return metrics::Accuracy(w.scalar, w.scalar); }, "`labels`");
  both(
      "Accuracy", "weights that are gone",
      [](World& w) { return metrics::Accuracy(w.labels, w.x, {.weights = w.gone}); }, "gone");
  both(
      "Accuracy", "weights by class", [](World& w) { return metrics::Accuracy(w.labels, w.x, {.weights = w.x}); },
      "`weights`");
  both(
      "Mean", "nothing", [](World& w) { return metrics::Mean(w.none); }, "is an empty Tensor");
  both(
      "Mean", "a tensor that is gone", [](World& w) { return metrics::Mean(w.gone); }, "gone");
  both(
      "Mean", "weights of a scalar", [](World& w) { return metrics::Mean(w.scalar, {.weights = w.labels}); },
      "no weights");
  both(
      "Mean", "weights of another graph", [](World& w) { return metrics::Mean(w.x, {.weights = w.foreign}); },
      "another graph");
  // Every metric of labels and predictions, with its defaults but for the weights, which are those of `w`.
  struct Named {
    const char* name;
    std::function<Metric(const Tensor& y, const Tensor& p, const Tensor& w)> metric;
    bool classes = false;  // of [b] and [b, classes]
  };
  const std::vector<Named> all = {
      {"TopKAccuracy", [](auto& y, auto& p, auto& w) { return metrics::TopKAccuracy(y, p, {.weights = w}); }, true},
      {"ConfusionMatrix", [](auto& y, auto& p, auto& w) { return metrics::ConfusionMatrix(y, p, {.weights = w}); },
       true},
      {"MeanPerClassAccuracy",
       [](auto& y, auto& p, auto& w) { return metrics::MeanPerClassAccuracy(y, p, {.weights = w}); }, true},
      {"MeanIoU", [](auto& y, auto& p, auto& w) { return metrics::MeanIoU(y, p, {.weights = w}); }, true},
      {"MeanAbsoluteError", [](auto& y, auto& p, auto& w) { return metrics::MeanAbsoluteError(y, p, {.weights = w}); }},
      {"MeanSquaredError", [](auto& y, auto& p, auto& w) { return metrics::MeanSquaredError(y, p, {.weights = w}); }},
      {"RootMeanSquaredError",
       [](auto& y, auto& p, auto& w) { return metrics::RootMeanSquaredError(y, p, {.weights = w}); }},
      {"CosineSimilarity", [](auto& y, auto& p, auto& w) { return metrics::CosineSimilarity(y, p, {.weights = w}); }},
      {"BinaryAccuracy", [](auto& y, auto& p, auto& w) { return metrics::BinaryAccuracy(y, p, {.weights = w}); }},
      {"TruePositives", [](auto& y, auto& p, auto& w) { return metrics::TruePositives(y, p, {.weights = w}); }},
      {"FalsePositives", [](auto& y, auto& p, auto& w) { return metrics::FalsePositives(y, p, {.weights = w}); }},
      {"TrueNegatives", [](auto& y, auto& p, auto& w) { return metrics::TrueNegatives(y, p, {.weights = w}); }},
      {"FalseNegatives", [](auto& y, auto& p, auto& w) { return metrics::FalseNegatives(y, p, {.weights = w}); }},
      {"Precision", [](auto& y, auto& p, auto& w) { return metrics::Precision(y, p, {.weights = w}); }},
      {"Recall", [](auto& y, auto& p, auto& w) { return metrics::Recall(y, p, {.weights = w}); }},
      {"F1", [](auto& y, auto& p, auto& w) { return metrics::F1(y, p, {.weights = w}); }},
      {"AUC", [](auto& y, auto& p, auto& w) { return metrics::AUC(y, p, {.weights = w}); }},
      {"PrecisionAtRecall", [](auto& y, auto& p, auto& w) { return metrics::PrecisionAtRecall(y, p, {.weights = w}); }},
      {"RecallAtPrecision", [](auto& y, auto& p, auto& w) { return metrics::RecallAtPrecision(y, p, {.weights = w}); }},
  };
  for (const Named& named : all) {
    const auto metric = named.metric;
    const bool classes = named.classes;
    both(
        named.name, "nothing", [=](World& w) { return metric(w.none, w.none, Tensor()); },
        "`labels` is an empty Tensor");
    both(
        named.name, "no predictions", [=](World& w) { return metric(w.labels, w.none, Tensor()); },
        "is an empty Tensor");
    both(
        named.name, "another graph", [=](World& w) { return metric(w.x, w.foreign, Tensor()); }, "another graph");
    both(named.name, "other shapes", [=](World& w) { return metric(w.labels, w.image, Tensor()); });
    both(named.name, "a scalar and images", [=](World& w) { return metric(w.scalar, w.image, Tensor()); });
    both(
        named.name, "weights of another shape",
        [=](World& w) { return metric(classes ? w.labels : w.x, w.x, w.image); }, "`weights`");
    both(
        named.name, "weights that are gone", [=](World& w) { return metric(classes ? w.labels : w.x, w.x, w.gone); },
        "gone");
  }
  both(
      "TopKAccuracy", "k 0", [](World& w) { return metrics::TopKAccuracy(w.labels, w.x, {.k = 0}); }, "`k`");
  both(
      "ConfusionMatrix", "no number of classes", [](World& w) { return metrics::ConfusionMatrix(w.labels, w.labels); },
      "`num_classes`");
  both(
      "ConfusionMatrix", "-1 classes",
      [](World& w) { return metrics::ConfusionMatrix(w.labels, w.labels, {.num_classes = -1}); }, "`num_classes`");
  both(
      "MeanIoU", "other classes", [](World& w) { return metrics::MeanIoU(w.labels, w.x, {.num_classes = 3}); },
      "3 classes");
  both(
      "MeanPerClassAccuracy", "labels that are no integers",
      [](World& w) { return metrics::MeanPerClassAccuracy(ReduceMean(w.x, {1}), w.x); }, "class numbers");
  both(
      "BinaryAccuracy", "threshold NaN",
      [](World& w) { return metrics::BinaryAccuracy(w.x, w.x, {.threshold = kNaN}); }, "`threshold`");
  both(
      "TruePositives", "threshold NaN", [](World& w) { return metrics::TruePositives(w.x, w.x, {.threshold = kNaN}); },
      "`threshold`");
  both(
      "F1", "beta 0", [](World& w) { return metrics::F1(w.x, w.x, {.beta = 0}); }, "`beta`");
  both(
      "AUC", "2 thresholds", [](World& w) { return metrics::AUC(w.x, w.x, {.num_thresholds = 2}); },
      "`num_thresholds`");
  both(
      "AUC", "thresholds without end", [](World& w) { return metrics::AUC(w.x, w.x, {.num_thresholds = kHuge}); },
      "`num_thresholds`");
  both(
      "AUC", "weights of two labels of four",
      [](World& w) {
        return metrics::AUC(w.x, w.x, {.multi_label = true, .label_weights = {1, 2}});
      },
      "`label_weights`");
  both(
      "AUC", "label weights without labels", [](World& w) { return metrics::AUC(w.x, w.x, {.label_weights = {1}}); },
      "`label_weights`");
  both(
      "PrecisionAtRecall", "recall 2", [](World& w) { return metrics::PrecisionAtRecall(w.x, w.x, {.at = 2}); },
      "`at`");
  both(
      "Percentiles", "nothing", [](World& w) { return metrics::Percentiles(w.none); }, "is an empty Tensor");
  both(
      "Percentiles", "a scalar", [](World& w) { return metrics::Percentiles(w.scalar); }, "[b]");
  both(
      "Percentiles", "none", [](World& w) { return metrics::Percentiles(w.x, {.percentiles = {}}); }, "`percentiles`");
  both(
      "Percentiles", "101", [](World& w) { return metrics::Percentiles(w.x, {.percentiles = {101}}); },
      "`percentiles`");
  both(
      "Percentiles", "no range", [](World& w) { return metrics::Percentiles(w.x, {.low = 1, .high = 1}); }, "`low`");
  both(
      "Percentiles", "bins without end", [](World& w) { return metrics::Percentiles(w.x, {.bins = kHuge}); }, "`bins`");
  both(
      "Percentiles", "weights of another shape",
      [](World& w) { return metrics::Percentiles(w.labels, {.weights = w.x}); }, "`weights`");
  return t.rows();
}

TEST(FrontendsEdgeTest, Layers) { Check(Layers()); }
TEST(FrontendsEdgeTest, Losses) { Check(Losses()); }
TEST(FrontendsEdgeTest, Metrics) { Check(Metrics()); }

TEST(FrontendsEdgeTest, EveryFunctionHasARow) {
  EXPECT_GT(Layers().size(), 80u);
  CheckCoverage("frontends/layers.h", Layers());
  CheckCoverage("frontends/losses.h", Losses());
  CheckCoverage("frontends/metrics.h", Metrics());
}

}  // namespace
}  // namespace tandem::edge
