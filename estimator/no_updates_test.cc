// Variables change in training only: what a model_fn builds to update them for another mode is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/logging.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

// Updates its variables in three ways whatever the mode is, and reports them: tf.estimator lets a model do so.
EstimatorSpec UpdatesInEveryMode(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor x = features["x"];
  GraphBuilder* graph = x.graph();
  Tensor calls = graph->Variable({.name = "calls", .shape = {}, .trainable = false});
  graph->Assign(calls, calls + 1.0);
  Tensor y = layers::Dense(layers::BatchNormalization(x, {.momentum = 0.5, .training = true}), {.units = 1});
  Tensor bias = graph->Find("dense/bias"), mean = graph->Find("batch_normalization/moving_mean");
  // A value for each example: rows are counted from what is fed.
  auto rows = [&](const Tensor& v) { return ReduceSum(x * 0.0, {1}) + Reshape(ReduceMean(v), {1}); };
  if (mode == Mode::kPredict) {
    return EstimatorSpec::Predict({{"calls", rows(calls)}, {"bias", rows(bias)}, {"mean", rows(mean)}});
  }
  Tensor loss = losses::MeanSquaredError(labels, y);
  TrainOp train = optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"calls", metrics::Mean(calls)},
                                      {"bias", metrics::Mean(ReduceMean(bias))},
                                      {"mean", metrics::Mean(ReduceMean(mean))}});
  }
  return EstimatorSpec::Train(loss, train);
}

using Values = std::map<std::string, double>;

Values Evaluated(Estimator& estimator) {
  absl::StatusOr<EvalResult> result = estimator.Evaluate(LineInput(32, 8, 1));
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  return {{"calls", (*result)["calls"]}, {"bias", (*result)["bias"]}, {"mean", (*result)["mean"]}};
}

class NoUpdates : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(NoUpdates, OutsideOfTraining) {
  const auto [replicas, checkpoints] = GetParam();
  RunConfig config = Config(ModelDir(), replicas);
  if (!checkpoints) config.save_checkpoints_secs = 0;
  Estimator estimator(UpdatesInEveryMode, config);
  ASSERT_TRUE(estimator.Train(LineInput(), {.steps = 3}).ok());
  LogCapture log;
  const Values trained = Evaluated(estimator);
  EXPECT_EQ(trained.at("calls"), 3);
  EXPECT_NE(trained.at("bias"), 0);
  EXPECT_NE(trained.at("mean"), 0);
  EXPECT_TRUE(
      log.Contains("no_updates_test.cc:19: the assignment to \"calls\" and every later one are left out: "
                   "variables change in training only, and model_fn was called for mode eval; build what "
                   "updates them for Mode::kTrain"));

  EXPECT_EQ(Evaluated(estimator), trained);
  Values predicted;
  ASSERT_TRUE(estimator
                  .Predict(LineInput(16, 8, 1),
                           [&](const NamedTensors& p) {
                             for (const auto& [name, value] : p) predicted[name] = value.data<float>()[0];
                             return true;
                           })
                  .ok());
  for (const auto& [name, value] : trained) EXPECT_NEAR(predicted[name], value, 1e-6) << name;
  EXPECT_EQ(Evaluated(estimator), trained);

  // Training goes on from where it was, not from where evaluations went.
  ASSERT_TRUE(estimator.Train(LineInput(), {.steps = 2}).ok());
  EXPECT_EQ(Evaluated(estimator).at("calls"), 5);
}

INSTANTIATE_TEST_SUITE_P(All, NoUpdates, testing::Combine(testing::Values(1, 2), testing::Bool()));

// What evaluations do between two steps changes nothing of what is trained.
TEST(NoUpdatesInTrainAndEvaluate, TrainsAsWithoutEvaluations) {
  auto bits = [](const std::string& name, int every) {
    RunConfig config = Config(ModelDir(name), 2);
    config.save_checkpoints_steps = every;
    Estimator estimator(UpdatesInEveryMode, config);
    absl::StatusOr<EvalResult> result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 6},
                                                         {.input_fn = LineInput(32, 8, 1), .throttle_secs = 0});
    EXPECT_TRUE(result.ok()) << result.status();
    return estimator.GetVariableValue("dense/kernel").value();
  };
  const HostTensor often = bits("often", 1), once = bits("once", 6);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(often.data<float>()[i], once.data<float>()[i]);
}

}  // namespace
}  // namespace tandem
