// Compiles and runs the code blocks of estimator.md.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/monitored_training_session.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"

namespace tandem {
namespace {

#include "docs/guide/estimator_test_blocks.inc"

EstimatorSpec Line(const Features& features, const Tensor& labels, Mode, const Params&) {
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  std::vector<float> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(static_cast<float>(i) / 40);
    y.push_back(3 * x.back() - 1);
  }
  return Dataset::FromTensorSlices(
             {{"x", HostTensor::FromVector({40, 1}, x)}, {"label", HostTensor::FromVector({40, 1}, y)}})
      .Repeat()
      .Batch(8);
}

TEST(EstimatorGuide, TrainsUntilTheLossIsGood) {
  Estimator estimator(Line, RunConfig{.model_dir = ::testing::TempDir() + "/good"});
  const auto loss = TrainUntilGood(estimator, Points, 1e-3);
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_LT(*loss, 1e-3);
  EXPECT_LT(estimator.last_train_result()->global_step, 1000);
  const auto again = TrainUntilGood(estimator, Points, 1e-4);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_LT(*again, 1e-4);
}

TEST(EstimatorGuide, AHookSaves) {
  const std::string dir = ::testing::TempDir() + "/saves";
  Estimator estimator(Line, RunConfig{.model_dir = dir});
  ASSERT_EQ(estimator.Train(Points, {.steps = 5, .hooks = {std::make_shared<SaveGoodSteps>()}}), absl::OkStatus());
  EXPECT_TRUE(Env::Default()->Exists(dir + "/model.ckpt-1"));
}

TEST(EstimatorGuide, HooksKnowEpochs) {
  const InputFn epochs = [](const InputContext& context) -> absl::StatusOr<Dataset> {
    TD_ASSIGN_OR_RETURN(Dataset points, Points(context));
    return points.Take(5).Repeat();
  };
  const std::string dir = ::testing::TempDir() + "/epochs";
  for (const int64_t step : {10, 20}) {  // the second one goes on
    Estimator estimator(Line, RunConfig{.model_dir = dir});
    const auto count = std::make_shared<CountEpochs>();
    ASSERT_EQ(estimator.Train(epochs, {.hooks = {count, std::make_shared<StopAfterEpochs>(2)}}), absl::OkStatus());
    EXPECT_EQ(estimator.last_train_result()->global_step, step);
    EXPECT_EQ(count->epochs(), step / 5);
  }
}

}  // namespace
}  // namespace tandem
