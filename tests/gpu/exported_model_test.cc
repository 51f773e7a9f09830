// Models exported by jobs on GPUs.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/env.h"
#include "estimator/estimator.h"
#include "estimator/serving/model.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "tests/gpu/fake_gpu.h"

namespace tandem {
namespace {

EstimatorSpec Line(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor y = layers::Dense(features["x"], {.units = 3});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  const Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss));
}

HostTensor Points(int64_t n) {
  HostTensor x(DType::kFloat32, {n, 2});
  for (int64_t i = 0; i < 2 * n; ++i) x.data<float>()[i] = 0.1f * static_cast<float>(i % 9);
  return x;
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  return Dataset::FromTensorSlices({{"x", Points(16)}, {"label", HostTensor::Zeros(DType::kFloat32, {16, 3})}})
      .Batch(4);
}

// One GPU serves what two have trained, and a CPU too.
TEST(ExportedModelTest, HasTheValuesOfPredict) {
  const std::string dir = testing::TempDir() + "/model";
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  FakeGpuMachine machine(2);
  machine.AddModelDir(dir);
  std::vector<float> expected;
  std::string on_gpu, on_cpu;
  {
    Estimator estimator(Line, RunConfig{.model_dir = dir, .train_distribute = MirroredStrategy({"gpu:0", "gpu:1"})});
    ASSERT_TRUE(estimator.Train(Input, {.max_steps = 3}).ok());
    const absl::Status predicted = estimator.Predict(Input, [&](const NamedTensors& p) {
      for (float v : p.at("y").values<float>()) expected.push_back(v);
      return true;
    });
    ASSERT_TRUE(predicted.ok()) << predicted;
    const auto path = estimator.ExportModel(dir + "/gpu", {.input_fn = Input});
    ASSERT_TRUE(path.ok()) << path.status();
    on_gpu = *path;
  }
  {
    Estimator estimator(Line, RunConfig{.model_dir = dir});
    const auto path = estimator.ExportModel(dir + "/cpu", {.input_fn = Input});
    ASSERT_TRUE(path.ok()) << path.status();
    on_cpu = *path;
  }
  for (const std::string& path : {on_gpu, on_cpu}) {
    const auto model = LoadModel(path);
    ASSERT_TRUE(model.ok()) << path << ": " << model.status();
    for (int64_t rows : {1, 8, 13}) {
      const auto outputs = (*model)->Predict({{"x", Points(rows)}});
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      for (int64_t i = 0; i < rows * 3; ++i) EXPECT_NEAR(outputs->at("y").data<float>()[i], expected[i], 1e-5);
    }
  }
  EXPECT_EQ(absl::StrJoin(machine.TakeViolations(), "\n"), "");
  for (int d = 0; d < 2; ++d) EXPECT_EQ(machine.driver().AllocatedBytes(d), 0u);
}

}  // namespace
}  // namespace tandem
