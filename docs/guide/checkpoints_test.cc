// Compiles and runs the code blocks of checkpoints.md.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/frontends/layers.h"

namespace tandem {
namespace {

#include "docs/guide/checkpoints_test_blocks.inc"

TEST(CheckpointsGuide, WarmStartsAreValid) {
  const std::string folder = ::testing::TempDir() + "/tuned";
  RunConfig config = FineTuning("pretrained.safetensors", folder);
  EXPECT_EQ(config.Validate(), absl::OkStatus());
  config.warm_start_from = WithNewVocabulary("pretrained.safetensors", "old.txt", "new.txt");
  EXPECT_EQ(config.Validate(), absl::OkStatus());
}

TEST(CheckpointsGuide, Serves) {
  const std::string folder = ::testing::TempDir() + "/served";
  ASSERT_EQ(Env::Default()->CreateDirs(folder), absl::OkStatus());
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        return EstimatorSpec::Predict({{"logits", layers::Dense(layers::Flatten(features["image"]), {.units = 10})}});
      },
      RunConfig{.model_dir = folder});
  const auto answers = Serve(estimator, {HostTensor::Zeros(DType::kFloat32, {1, 28, 28, 1}),
                                         HostTensor::Zeros(DType::kFloat32, {3, 28, 28, 1})});
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ((*answers)[0].shape(), (Shape{1, 10}));
  EXPECT_EQ((*answers)[1].shape(), (Shape{3, 10}));
}

TEST(CheckpointsGuide, AveragesModels) {
  const ModelFn model = [](const Features& features, const Tensor&, Mode, const Params&) {
    return EstimatorSpec::Predict({{"y", layers::Dense(features["x"], {.units = 1})}});
  };
  Estimator one(model, RunConfig{.model_dir = ::testing::TempDir() + "/one"});
  Estimator other(model, RunConfig{.model_dir = ::testing::TempDir() + "/other"});
  const auto weights = [](float value) {
    return NamedTensors{{"dense/kernel", HostTensor::FromVector<float>({2, 1}, {value, 4})}};
  };
  ASSERT_EQ(one.AssignVariables(weights(1)), absl::OkStatus());
  ASSERT_EQ(other.AssignVariables(weights(2)), absl::OkStatus());
  ASSERT_EQ(Average(one, other), absl::OkStatus());
  const HostTensor mean = one.ReadVariables()->at("dense/kernel");
  EXPECT_EQ(mean.values<float>()[0], 1.5f);
  EXPECT_EQ(mean.values<float>()[1], 4.0f);
}

}  // namespace
}  // namespace tandem
