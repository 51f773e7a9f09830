// Compiles and runs the code blocks of serving.md.
#include "gtest/gtest.h"

#include <iostream>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "base/test_dir.h"
#include "estimator/serving/server/server.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"

namespace tandem {
namespace {

#include "docs/guide/serving_test_blocks.inc"

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  const HostTensor x = HostTensor::FromVector<float>({2, 1}, {1, 2});
  return Dataset::FromTensorSlices({{"x", x}, {"label", x}}).Batch(2);
}

TEST(ServingGuide, EveryBlockDoesWhatItSays) {
  const std::string folder = TestDir("serving_guide");
  Estimator estimator(ModelFn, {.model_dir = folder + "/model", .threads = 1});
  ASSERT_TRUE(estimator.Train(Input, {.steps = 1}).ok());
  const ServingInput input{.features = {{"x", DType::kFloat32, {kBatch, 1}}}};
  const auto path = estimator.ExportModel(folder + "/exports", input);
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(ServeFor(folder + "/exports", absl::ZeroDuration()), absl::OkStatus());
}

}  // namespace
}  // namespace tandem
