// A step of several accumulated batches is, to the bit, a step of one batch that is so many times as large: of models
// with statistics and random numbers, on several devices, at the end of the data, and for a run that goes on.
#include <gtest/gtest.h>

#include "base/logging.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kPoints = 50;  // which no global batch below divides
constexpr int64_t kGlobalBatchOfDevice = 8;

struct Case {
  std::string name;
  ModelFn model;
};

EstimatorSpec Spec(const Tensor& labels, const Tensor& y, Mode mode, Optimizer optimizer) {
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizer.Minimize(loss), {{"mean_y", metrics::Mean(y)}});
}

EstimatorSpec NormModel(const Features& features, const Tensor& labels, Mode mode, bool sync) {
  Tensor x = layers::Dense(features["x"], {.units = 4});
  x = layers::BatchNormalization(x, {.momentum = 0.9, .training = mode == Mode::kTrain, .sync = sync});
  return Spec(labels, layers::Dense(Relu(x), {.units = 1}), mode,
              optimizers::Momentum({.learning_rate = 0.05, .clip = {.global_norm = 1}}));
}

std::vector<Case> Cases() {
  return {
      {"Adam", LineModel},
      {"NormOfReplicas",
       [](const Features& f, const Tensor& l, Mode mode, const Params&) { return NormModel(f, l, mode, false); }},
      {"NormOfAll",
       [](const Features& f, const Tensor& l, Mode mode, const Params&) { return NormModel(f, l, mode, true); }},
      {"Dropout",
       [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
         Tensor x = layers::Dense(features["x"], {.units = 8, .activation = Relu});
         x = layers::Dropout(x, {.rate = 0.5, .training = mode == Mode::kTrain});
         return Spec(labels, layers::Dense(x, {.units = 1}), mode, optimizers::RMSprop({.learning_rate = 0.01}));
       }},
      {"RegularizedSum",
       [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
         Tensor y = layers::Dense(features["x"], {.units = 1, .kernel_regularizer = L2(0.1)});
         Tensor loss = ReduceSum(Square(y - labels)) * 0.125 + losses::RegularizationLoss(y.graph());
         if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
         return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.01}).Minimize(loss));
       }},
  };
}

// Two epochs of shuffled points, each of which ends in a short round. `until`: stops after that step.
std::string Train(const Case& c, const std::string& dir, int devices, int accumulated, int64_t until = -1) {
  RunConfig config = Config(dir, devices);
  config.accumulate_batches = accumulated;
  config.save_checkpoints_steps = 3;
  config.log_step_count_steps = 1;
  Estimator estimator(c.model, config);
  TrainOptions options;
  if (until >= 0) options.max_steps = until;
  for (int epoch = 0; epoch < (until >= 0 ? 1 : 2); ++epoch) {
    EXPECT_EQ(estimator.Train(LineInput(kPoints, kGlobalBatchOfDevice / accumulated, 1, /*shuffle=*/16), options),
              absl::OkStatus());
  }
  auto latest = estimator.LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  std::string bytes = BaseName(**latest);
  for (const char* file : {"/variables.safetensors", "/slots.safetensors"}) {
    if (!Env::Default()->Exists(**latest + file)) continue;
    auto content = Env::Default()->ReadFile(**latest + file);
    EXPECT_TRUE(content.ok()) << content.status();
    if (content.ok()) bytes += *content;
  }
  return bytes;
}

class AccumulatedBatches : public ::testing::TestWithParam<int> {};

TEST_P(AccumulatedBatches, AreOneBatch) {
  SetMinLogSeverity(LogSeverity::kWarning);
  for (const Case& c : Cases()) {
    const std::string whole = Train(c, ModelDir(c.name + "_1"), GetParam(), 1);
    for (int accumulated : {2, 4, 8}) {
      SCOPED_TRACE(c.name + " in " + std::to_string(accumulated));
      EXPECT_EQ(whole, Train(c, ModelDir(c.name + "_" + std::to_string(accumulated)), GetParam(), accumulated));
    }
  }
}

// Stopped in the middle of an epoch, and gone on with in other parts.
TEST_P(AccumulatedBatches, GoOnInOtherParts) {
  SetMinLogSeverity(LogSeverity::kWarning);
  const int64_t stop = 2;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const std::string whole = ModelDir(c.name + "_whole"), parts = ModelDir(c.name + "_parts");
    Train(c, whole, GetParam(), 1, stop);
    Train(c, parts, GetParam(), 4, stop);
    EXPECT_EQ(Train(c, whole, GetParam(), 1), Train(c, parts, GetParam(), 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AccumulatedBatches, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace tandem
