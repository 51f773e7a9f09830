// Compiles the code blocks of keras.md and runs its statements.
#include <gtest/gtest.h>

#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/callbacks.h"
#include "tandem/estimator/keras/load_model.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/keras_test_blocks.inc"

TEST(KerasGuideTest, BlocksRun) {
  for (const auto& block : kBlocks) {
    keras::ClearSession();
    const absl::Status status = block(testing::TempDir());
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(KerasGuideTest, ACallbackStopsTheTraining) {
  keras::Sequential model({keras::layers::Dense(1, {.input_shape = {1}})});
  model.Compile({.optimizer = "sgd", .loss = "mse"});
  const HostTensor zeros = HostTensor::Zeros(DType::kFloat32, {8, 1});
  const absl::StatusOr<keras::History> history =
      model.Fit({zeros, zeros}, {.epochs = 5, .verbose = 0, .callbacks = {std::make_shared<StopWhenGood>()}});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(history->epoch.size(), 1u);
}

TEST(KerasGuideTest, TheModelFnTrains) {
  Estimator estimator(SharedModelFn, RunConfig{.save_checkpoints_steps = 0});
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    const HostTensor x = HostTensor::Zeros(DType::kFloat32, {8, 6}), y = HostTensor::Zeros(DType::kFloat32, {8, 1});
    return Dataset::FromTensorSlices({{"left", x}, {"right", x}, {"label", y}}).Batch(4);
  };
  const absl::Status status = estimator.Train(input);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(estimator.Evaluate(input).ok());
}

}  // namespace
}  // namespace tandem
