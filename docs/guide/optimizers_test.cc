// Runs what optimizers.md shows.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/base/moving_average_name.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/optimizers_test_blocks.inc"

Tensor LossOfNetwork(GraphBuilder& graph) {
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  for (int i = 0; i < 6; ++i) {
    x = layers::Dense(x, {.units = 4, .activation = Relu, .name = "encoder/layer_" + std::to_string(i)});
  }
  return ReduceMean(
      Square(layers::Dense(layers::BatchNormalization(x, {.training = true}), {.units = 1, .name = "head"})));
}

TEST(OptimizersPage, GroupsAndAveragesBuild) {
  GraphBuilder graph;
  ASSERT_TRUE(FineTune(LossOfNetwork(graph)).ok()) << graph.status();
  EXPECT_EQ(graph.scalar_defaults().at("learning_rate_1"), 1e-2);
  for (const VariableSpec& spec : graph.variables()) {
    if (spec.slot_of.empty()) continue;
    EXPECT_EQ(spec.slot_of.find("encoder/layer_0"), std::string::npos) << spec.name;
  }
  GraphBuilder averaged;
  ASSERT_TRUE(Averaged(LossOfNetwork(averaged)).ok()) << averaged.status();
  EXPECT_TRUE(averaged.Find(MovingAverageName("batch_normalization/moving_mean")).ok());
}

// A rule of one's own with a schedule of one's own: w and its factor by the formula.
TEST(OptimizersPage, ARuleOfOnesOwnTrains) {
  const std::string dir = test::ModelDir();
  auto model = [](const Features& features, const Tensor&, Mode, const Params&) {
    Tensor w = features.graph()->Variable({.name = "w", .shape = {2}});
    const std::vector<float> target = {1, -2};
    Tensor loss = ReduceSum(Square(w - features.graph()->Constant(HostTensor::FromVector<float>({2}, target))));
    loss = loss + ReduceMean(features["x"]) * 0.0;
    return EstimatorSpec::Train(loss, Optimizer(std::make_shared<SignAgreement>(), InverseRoot(0.1)).Minimize(loss));
  };
  RunConfig config = test::Config(dir, 2);
  config.save_checkpoints_steps = 100;
  for (int64_t steps : {2, 5}) {
    Estimator estimator(model, config);
    ASSERT_TRUE(estimator.Train(test::LineInput(), {.max_steps = steps}).ok());
  }
  Estimator estimator(model, config);
  const absl::StatusOr<HostTensor> w = estimator.GetVariableValue("w"),
                                   factor = estimator.GetVariableValue("w/SignAgreement_1");
  ASSERT_TRUE(w.ok()) << w.status();
  ASSERT_TRUE(factor.ok()) << factor.status();
  const double target[] = {1, -2};
  for (int i = 0; i < 2; ++i) {
    double want = 0, f = 1, last = 0;
    for (int step = 0; step < 5; ++step) {
      const double g = 2 * (want - target[i]), product = g * last;
      f *= product > 0 ? 1.25 : product < 0 ? 0.75 : 1;
      want -= 0.1 / std::sqrt(step + 1.0) * f * g;
      last = g;
    }
    EXPECT_NEAR(w->data<float>()[i], want, 1e-5);
    EXPECT_NEAR(factor->data<float>()[i], f, 1e-5);
  }
  GraphBuilder graph;
  EXPECT_TRUE(Train(LossOfNetwork(graph)).ok()) << graph.status();
}

TEST(OptimizersPage, RatesChange) {
  Estimator estimator(test::LineModel, test::Config(test::ModelDir()));
  std::vector<double> rates;
  auto seen = std::make_shared<test::StepHook>(
      [&](RunContext& context, const RunValues&) { rates.push_back(*context.StepScalar()); });
  TrainOptions train = ThreeThousandSteps();
  train.max_steps = 1001;
  train.hooks.push_back(seen);
  ASSERT_TRUE(estimator.Train(test::LineInput(8, 8), train).ok());
  EXPECT_EQ(rates[999], 0.05);
  EXPECT_EQ(rates[1000], 0.025);
  Estimator other(test::LineModel, test::Config(test::ModelDir("plateau")));
  // The metric of the page is not one of this model: the rule names what there is.
  const absl::StatusOr<EvalResult> result =
      TrainWithPlateaus(other, test::LineInput(8, 8, 1), test::LineInput(8, 8, 1));
  EXPECT_NE(result.status().message().find("no metric \"accuracy\"; it has loss, mean_y"), std::string::npos)
      << result.status();
}

}  // namespace
}  // namespace tandem
