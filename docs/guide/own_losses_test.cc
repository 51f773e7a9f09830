// Runs what own_losses.md shows.
#include <string>
#include <vector>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/data/dataset.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/keras/optimizers.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/own_losses_test_blocks.inc"

// x [100, 1] that says nothing about the labels, which are spread evenly from 0 to 0.99.
HostTensor Nothing() { return HostTensor::Zeros(DType::kFloat32, {100, 1}); }

HostTensor Spread() {
  std::vector<float> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(static_cast<float>(i) / 100);
  return HostTensor::FromVector({100, 1}, labels);
}

TEST(OwnLossesPage, TrainsToTheQuantile) {
  Estimator estimator(QuantileModel, test::Config(test::ModelDir(), /*replicas=*/2), {{"quantile", 0.9}});
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", Nothing()}, {"label", Spread()}}).Repeat().Batch(50);
  };
  ASSERT_EQ(estimator.Train(input, {.steps = 400}), absl::OkStatus());
  const absl::StatusOr<HostTensor> bias = estimator.GetVariableValue("dense/bias");
  ASSERT_TRUE(bias.ok()) << bias.status();
  EXPECT_NEAR(bias->data<float>()[0], 0.9, 0.04);
}

TEST(OwnLossesPage, CompilesIntoAModel) {
  keras::Sequential model = QuantileNetwork(0.25);
  const auto history = model.Fit({Nothing(), Spread()}, {.batch_size = 100, .epochs = 400, .verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  const auto predictions = model.Predict(Nothing());
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  EXPECT_NEAR(predictions->data<float>()[0], 0.25, 0.04);
}

}  // namespace
}  // namespace tandem
