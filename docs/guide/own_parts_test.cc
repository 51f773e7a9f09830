// Runs what own_parts.md shows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/own_parts_test_blocks.inc"

using test::Config;
using test::LineInput;
using test::ModelDir;

// x [64, 2] from LineInput, with what a model makes of it.
template <typename Loss>
ModelFn ModelOf(Loss loss_of) {
  return [loss_of](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    const Tensor loss = loss_of(features, labels);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.02}).Minimize(loss));
  };
}

// The loss after `steps` steps.
double Trained(const ModelFn& model, int64_t steps, HookList hooks = {}) {
  Estimator estimator(model, Config(ModelDir(), /*replicas=*/2));
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = steps, .hooks = std::move(hooks)}), absl::OkStatus());
  const auto result = estimator.Evaluate(LineInput(64, 8, 1));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)["loss"] : NAN;
}

TEST(OwnPartsPage, ALayer) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor& labels) {
    const Tensor y = LowRankDense(LowRankDense(features["x"], 6, 2), 1, 1);
    return losses::MeanSquaredError(labels, y + 1.0);
  });
  EXPECT_LT(Trained(model, 300), 0.05);
}

// What it has to remember came first.
TEST(OwnPartsPage, ARecurrentLayer) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor&) {
    const Tensor sequence = Concat({ExpandDims(features["x"], 2), Full(features.graph(), {kBatch, 3, 1}, 0)}, 1);
    const Tensor first = Slice(features["x"], {0, 0}, {-1, 1});
    const Tensor last = layers::Dense(Gru(sequence, 6), {.units = 1});
    return losses::MeanSquaredError(first, last) / (ReduceMean(Square(first - ReduceMean(first))) + 1e-6);
  });
  EXPECT_LT(Trained(model, 600), 0.05);
}

// Trains a model whose two inputs go through the same weights, and checks which those are.
void ExpectOneTower(Tensor (*distance)(const Features&)) {
  Estimator estimator(
      [distance](const Features& features, const Tensor&, Mode, const Params&) {
        const Tensor loss = ReduceMean(distance(features));
        return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
      },
      Config(ModelDir()));
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    const HostTensor left = HostTensor::FromVector<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const HostTensor right = HostTensor::FromVector<float>({4, 2}, {2, 1, 4, 3, 6, 5, 8, 7});
    return Dataset::FromTensorSlices({{"left", left}, {"right", right}}).Repeat().Batch(4);
  };
  ASSERT_EQ(estimator.Train(input, {.steps = 3}), absl::OkStatus());
  const auto names = estimator.GetVariableNames();
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"tower/bias", "tower/kernel"}));
}

TEST(OwnPartsPage, SharedWeights) {
  ExpectOneTower(DistanceByALayer);
  ExpectOneTower(Distance);
}

TEST(OwnPartsPage, SeveralLabels) {
  const std::unique_ptr<Estimator> estimator = Sales(ModelDir());
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({4, 1}, {0, 1, 2, 3})},
                                      {"price", HostTensor::FromVector<float>({4, 1}, {1, 3, 5, 7})},
                                      {"sold", HostTensor::FromVector<float>({4, 1}, {1, 1, 0, 0})}})
        .Repeat()
        .Batch(4);
  };
  ASSERT_EQ(estimator->Train(input, {.steps = 500}), absl::OkStatus());
  const auto result = estimator->Evaluate(input, {.steps = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT((*result)["loss"], 0.2);
}

// For a linear score the slope is the kernel, whose norm the penalty brings to 1.
TEST(OwnPartsPage, AGradientPenalty) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor&) {
    return GradientPenalty(layers::Dense(features["x"], {.units = 1}), features["x"]);
  });
  EXPECT_LT(Trained(model, 200), 1e-3);
}

TEST(OwnPartsPage, AGradientOfOnesOwn) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor&) {
    const Tensor w = features.graph()->Variable({.name = "w", .shape = {1}});
    return ReduceMean(Square(RoundStraightThrough(w) - 3.0)) + 0.0 * ReduceMean(features["x"]);
  });
  EXPECT_EQ(Trained(model, 400), 0);
}

TEST(OwnPartsPage, TwoOptimizers) {
  Estimator estimator(Adversaries, Config(ModelDir()));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 20}), absl::OkStatus());
  for (const char* name : {"generator", "critic"}) {
    EXPECT_NE(estimator.GetVariableValue(name)->data<float>()[0], 0.5f) << name;
  }
}

TEST(OwnPartsPage, AnnealedLoss) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor& labels) {
    const Tensor y = layers::Dense(features["x"], {.units = 1});
    return AnnealedLoss(losses::MeanSquaredError(labels, y), ReduceMean(Square(y)));
  });
  Estimator estimator(model, Config(ModelDir()));
  std::vector<double> weights;
  const auto seen = std::make_shared<test::StepHook>(
      [&](RunContext& context, const RunValues&) { weights.push_back(*context.StepScalar("divergence_weight")); });
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3, .hooks = {std::make_shared<Anneal>(), seen}}), absl::OkStatus());
  EXPECT_EQ(weights, (std::vector<double>{0.001, 0.002, 0.003}));
}

TEST(OwnPartsPage, AHookLooksAtAnOutput) {
  const ModelFn model = ModelOf([](const Features& features, const Tensor& labels) {
    const Tensor score = layers::Dense(features["x"], {.units = 1});
    NameTheScore(score);
    return losses::MeanSquaredError(labels, score);
  });
  const auto hook = std::make_shared<LargestScore>();
  Trained(model, 25, {hook});
  EXPECT_GT(hook->largest, 0);
}

TEST(OwnPartsPage, AHookExports) {
  const std::string dir = ModelDir();
  Estimator estimator(test::LineModel, Config(dir));
  const auto hook = std::make_shared<ExportWhenGood>(&estimator, dir + "/exports",
                                                     ServingInput{.features = {{"x", DType::kFloat32, {kBatch, 2}}}});
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 300, .hooks = {hook}}), absl::OkStatus());
  EXPECT_TRUE(Env::Default()->Exists(hook->path + "/predict.tdx")) << hook->path;
}

}  // namespace
}  // namespace tandem
