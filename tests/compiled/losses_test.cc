// Every loss with every reduction, and the metrics, compiled and in the reference interpreter.
#include "frontends/losses.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using losses::LossOptions;
using losses::Reduction;

// A loss of scores [b, 4] and the inputs it declares.
using LossFn = std::function<Tensor(GraphBuilder&, const Tensor& scores, const LossOptions&)>;

const std::pair<const char*, LossFn> kLosses[] = {
    {"SparseSoftmax",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), scores, options);
     }},
    {"SparseSoftmaxInt64Column",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt64, {kBatch, 1}), scores, options);
     }},
    {"SparseSoftmaxUInt8",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kUInt8, {kBatch}), scores, options);
     }},
    {"SoftmaxSmoothed",
     [](GraphBuilder& g, const Tensor& scores, LossOptions options) {
       options.label_smoothing = 0.1;
       Tensor labels = OneHot(g.Input("label", DType::kInt32, {kBatch}), 4);
       return losses::SoftmaxCrossEntropy(labels, scores, options);
     }},
    {"CategoricalOfSoftmax",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::CategoricalCrossEntropy(Softmax(g.Input("target", DType::kFloat32, {kBatch, 4})), Softmax(scores),
                                              options);
     }},
    {"CategoricalOfAny",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::CategoricalCrossEntropy(Softmax(g.Input("target", DType::kFloat32, {kBatch, 4})), Sigmoid(scores),
                                              options);
     }},
    {"SquaredError",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::MeanSquaredError(g.Input("target", DType::kFloat32, {kBatch, 4}), scores, options);
     }},
    {"SquaredErrorVector",
     [](GraphBuilder& g, const Tensor& scores, const LossOptions& options) {
       return losses::MeanSquaredError(g.Input("target", DType::kFloat32, {kBatch}), ReduceMax(scores, {1}), options);
     }},
};

const std::pair<const char*, Reduction> kReductions[] = {
    {"SumOverBatchSize", Reduction::kSumOverBatchSize},
    {"Sum", Reduction::kSum},
    {"None", Reduction::kNone},
    {"Mean", Reduction::kMean},
    {"SumByNonzeroWeights", Reduction::kSumByNonzeroWeights},
};

Tensor Scores(GraphBuilder& g) { return layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 6}), {.units = 4}); }

// All reductions of one loss in one program: their losses are outputs, and their sum is minimised.
void AllReductions(GraphBuilder& g, const LossFn& fn, bool weighted) {
  Tensor scores = Scores(g), total;
  LossOptions options;
  if (weighted) {
    // Zero for about a third of the examples.
    Tensor w = g.Input("weight", DType::kFloat32, {kBatch});
    options.weights = Maximum(w, 0.0);
  }
  for (const auto& [name, reduction] : kReductions) {
    options.reduction = reduction;
    Tensor loss = fn(g, scores, options);
    g.Output(name, loss);
    if (reduction == Reduction::kNone) loss = ReduceMean(Mul(loss, 0.7));
    if (reduction == Reduction::kSum) loss = loss * 0.01;
    total = total.ok() ? total + loss : loss;
  }
  optimizers::SGD({.learning_rate = 0.3}).Minimize(total);
  g.Output("total", total);
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto& [name, fn] : kLosses) {
    for (bool weighted : {false, true}) {
      Options options{.devices = 2, .batch = 16};
      options.ranges["weight"] = {-0.5, 1};
      if (weighted) options.rows = {16, 5};
      LossFn loss = fn;
      cases.push_back({absl::StrCat(name, weighted ? "Weighted" : ""),
                       [=](GraphBuilder& g) { AllReductions(g, loss, weighted); }, options});
    }
  }
  cases.push_back({"AllWeightsZero",
                   [](GraphBuilder& g) { AllReductions(g, kLosses[0].second, true); },
                   {.ranges = {{"weight", {-1, -0.5}}}}});
  cases.push_back({"EachReductionAlone", [](GraphBuilder& g) {
                     Tensor scores = Scores(g);
                     Tensor weight = g.Input("weight", DType::kInt32, {kBatch});
                     Tensor loss = kLosses[0].second(g, scores,
                                                     {.weights = weight, .reduction = Reduction::kSumByNonzeroWeights});
                     optimizers::SGD({.learning_rate = 0.3}).Minimize(loss);
                     g.Output("loss", loss);
                   }});
  cases.push_back({"WithRegularization",
                   [](GraphBuilder& g) {
                     Tensor x = g.Input("x", DType::kFloat32, {kBatch, 6});
                     x = layers::Dense(x, {.units = 5, .activation = Relu, .kernel_regularizer = L2(0.1)});
                     x = layers::Dense(x, {.units = 4, .kernel_regularizer = L1(0.01), .bias_regularizer = L2(0.2)});
                     Tensor loss = kLosses[0].second(g, x, {}) + losses::RegularizationLoss(&g);
                     optimizers::SGD({.learning_rate = 0.3}).Minimize(loss);
                     g.Output("loss", loss);
                   },
                   {.devices = 2, .rows = {16, 1}}});
  cases.push_back({"RegularizationOnly",
                   [](GraphBuilder& g) {
                     Tensor y = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 6}),
                                              {.units = 5, .kernel_regularizer = L2(0.1)});
                     Tensor loss = losses::RegularizationLoss(&g);
                     optimizers::SGD({.learning_rate = 0.3}).Minimize(loss);
                     g.Output("loss", loss);
                     g.Output("y", y);
                   },
                   {.devices = 2}});
  cases.push_back({"Metrics",
                   [](GraphBuilder& g) {
                     Tensor scores = Scores(g);
                     Tensor label = g.Input("label", DType::kInt32, {kBatch});
                     Tensor weight = g.Input("weight", DType::kFloat32, {kBatch});
                     Tensor loss = losses::SparseSoftmaxCrossEntropy(label, scores);
                     int i = 0;
                     for (const Metric& m : {metrics::Accuracy(label, ArgMax(scores, -1)),
                                             metrics::Accuracy(label, scores, {.weights = weight}),
                                             metrics::Accuracy(OneHot(label, 4), scores), metrics::Mean(loss),
                                             metrics::Mean(scores), metrics::Mean(scores, {.weights = weight})}) {
                       g.Output(absl::StrCat("total_", i), m.total);
                       g.Output(absl::StrCat("count_", i++), m.count);
                     }
                     g.Output("loss", loss);
                   },
                   {.devices = 2, .rows = {16, 3}, .mode = "eval"}});
  return cases;
}

class Losses : public testing::TestWithParam<Case> {};
TEST_P(Losses, AgreeWithTheReference) { ASSERT_NO_FATAL_FAILURE(CompareWithReference(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, Losses, testing::ValuesIn(Cases()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem::compiled
