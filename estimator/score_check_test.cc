#include "estimator/model/score_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "estimator/config/warnings.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem {
namespace {

struct World {
  GraphBuilder graph{"main"};
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 4, 4, 1});
  Tensor id = graph.Input("id", DType::kInt32, {kBatch});
  Tensor yes = graph.Input("yes", DType::kFloat32, {kBatch, 1});
  Tensor hot = graph.Input("hot", DType::kFloat32, {kBatch, 3});

  Tensor Dense(int64_t units, const Activation& activation = {}) {
    return layers::Dense(x, {.units = units, .activation = activation});
  }
};

std::vector<ScoreProblem> Problems(const std::function<void(World& w)>& build) {
  World world;
  ScoreUses uses;
  build(world);
  EXPECT_EQ(world.graph.status(), absl::OkStatus());
  return CheckScoreUses(uses.uses(), GraphNodesOf(world.graph));
}

struct Case {
  const char* name;
  std::function<void(World& w)> build;
};

using losses::BinaryCrossEntropy;
using losses::CategoricalCrossEntropy;
using losses::SparseCategoricalCrossEntropy;

TEST(ScoreCheck, SaysThatScoresAreNoProbabilities) {
  const Case cases[] = {
      {"dense", [](World& w) { SparseCategoricalCrossEntropy(w.id, w.Dense(3)); }},
      {"dense without bias",
       [](World& w) { CategoricalCrossEntropy(w.hot, layers::Dense(w.x, {.units = 3, .use_bias = false})); }},
      {"focal", [](World& w) { losses::CategoricalFocalCrossEntropy(w.hot, w.Dense(3)); }},
      {"reshaped and cast",
       [](World& w) {
         Tensor moved = Cast(Reshape(w.Dense(1), {kBatch}), DType::kFloat64);
         BinaryCrossEntropy(Reshape(w.yes, {kBatch}), moved);
       }},
      {"a column of several",
       [](World& w) {
         losses::BinaryFocalCrossEntropy(w.yes, Slice(w.Dense(3), {0, 1}, {-1, 1}));
       }},
      {"a sum of two layers", [](World& w) { BinaryCrossEntropy(w.yes, w.Dense(1) + w.Dense(1)); }},
      {"a convolution",
       [](World& w) {
         Tensor y = layers::Conv2D(w.image, {.filters = 3, .kernel_size = 4});
         CategoricalCrossEntropy(w.hot, Reshape(y, {kBatch, 3}));
       }},
      {"a metric of logits",
       [](World& w) {
         Tensor logit = w.Dense(1);
         metrics::BinaryAccuracy(w.yes, logit);
         BinaryCrossEntropy(w.yes, logit, {.from_logits = true});
       }},
      {"an area of logits",
       [](World& w) {
         Tensor logit = w.Dense(1);
         BinaryCrossEntropy(w.yes, logit, {.from_logits = true});
         metrics::AUC(w.yes, logit);
       }},
  };
  for (const Case& c : cases) {
    const std::vector<ScoreProblem> problems = Problems(c.build);
    ASSERT_EQ(problems.size(), 1) << c.name;
    EXPECT_EQ(problems[0].warning, kScoresForProbabilities) << c.name;
    EXPECT_THAT(problems[0].text, testing::HasSubstr("estimator/score_check_test.cc:")) << c.name;
  }
}

TEST(ScoreCheck, SaysThatProbabilitiesAreNoLogits) {
  const Case cases[] = {
      {"softmax", [](World& w) { losses::SparseSoftmaxCrossEntropy(w.id, Softmax(w.Dense(3))); }},
      {"softmax of a layer", [](World& w) { losses::SoftmaxCrossEntropy(w.hot, w.Dense(3, Softmax)); }},
      {"sigmoid", [](World& w) { BinaryCrossEntropy(w.yes, w.Dense(1, Sigmoid), {.from_logits = true}); }},
      {"softmax of anything",
       [](World& w) { SparseCategoricalCrossEntropy(w.id, Softmax(w.hot), {.from_logits = true}); }},
      {"reshaped",
       [](World& w) {
         losses::SoftmaxCrossEntropy(w.hot, Reshape(Softmax(Reshape(w.hot, {kBatch, 3, 1})), {kBatch, 3}));
       }},
  };
  for (const Case& c : cases) {
    const std::vector<ScoreProblem> problems = Problems(c.build);
    ASSERT_EQ(problems.size(), 1) << c.name;
    EXPECT_EQ(problems[0].warning, kProbabilitiesForLogits) << c.name;
  }
}

// What is right, and what may be meant.
TEST(ScoreCheck, IsSilentWhereItIsNotSure) {
  const Case cases[] = {
      {"logits into losses of logits",
       [](World& w) {
         losses::SparseSoftmaxCrossEntropy(w.id, w.Dense(3));
         losses::SoftmaxCrossEntropy(w.hot, w.Dense(3));
         BinaryCrossEntropy(w.yes, w.Dense(1), {.from_logits = true});
         CategoricalCrossEntropy(w.hot, w.Dense(3), {.from_logits = true});
       }},
      {"probabilities into losses of probabilities",
       [](World& w) {
         SparseCategoricalCrossEntropy(w.id, w.Dense(3, Softmax));
         CategoricalCrossEntropy(w.hot, Softmax(w.Dense(3)));
         CategoricalCrossEntropy(w.hot, w.Dense(3, Sigmoid));
         BinaryCrossEntropy(w.yes, Reshape(Sigmoid(w.Dense(1)), {kBatch}));
       }},
      {"cut by hand", [](World& w) { BinaryCrossEntropy(w.yes, Minimum(Maximum(w.Dense(1), 0.0), 1.0)); }},
      {"another activation", [](World& w) { BinaryCrossEntropy(w.yes, w.Dense(1, Relu)); }},
      {"a mixture of probabilities",
       [](World& w) {
         Tensor gates = Reshape(Softmax(w.Dense(2)), {kBatch, 1, 2});
         Tensor experts = Reshape(Sigmoid(w.Dense(2)), {kBatch, 2, 1});
         BinaryCrossEntropy(w.yes, Reshape(BatchMatMul(gates, experts), {kBatch, 1}));
       }},
      {"inputs", [](World& w) { CategoricalCrossEntropy(w.hot, w.hot); }},
      {"log of probabilities as logits",
       [](World& w) { losses::SoftmaxCrossEntropy(w.hot, Log(Softmax(w.Dense(3)))); }},
      {"scaled probabilities", [](World& w) { losses::SoftmaxCrossEntropy(w.hot, Softmax(w.Dense(3)) * 10.0); }},
      {"least squares with a threshold",
       [](World& w) {
         Tensor y = w.Dense(1);
         losses::MeanSquaredError(w.yes, y);
         metrics::BinaryAccuracy(w.yes, y);
         metrics::Precision(w.yes, y);
       }},
      {"a threshold for logits",
       [](World& w) {
         Tensor logit = w.Dense(1);
         BinaryCrossEntropy(w.yes, logit, {.from_logits = true});
         metrics::BinaryAccuracy(w.yes, logit, {.threshold = 0.0});
         metrics::Recall(w.yes, logit, {.threshold = 0});
         metrics::BinaryAccuracy(w.yes, Sigmoid(logit));
       }},
      {"classes by their largest score",
       [](World& w) {
         Tensor logits = w.Dense(3);
         losses::SparseSoftmaxCrossEntropy(w.id, logits);
         metrics::Accuracy(w.id, logits);
         metrics::Precision(w.id, logits);
         metrics::F1(w.id, logits, {.average = metrics::Average::kMacro});
       }},
  };
  for (const Case& c : cases) {
    for (const ScoreProblem& problem : Problems(c.build)) ADD_FAILURE() << c.name << ": " << problem.text;
  }
}

TEST(ScoreCheck, SaysALineOnce) {
  const std::vector<ScoreProblem> problems = Problems([](World& w) {
    Tensor scores = w.Dense(3);
    for (int i = 0; i < 3; ++i) SparseCategoricalCrossEntropy(w.id, scores);
  });
  EXPECT_EQ(problems.size(), 1);
}

}  // namespace
}  // namespace tandem
