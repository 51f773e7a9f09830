// Compiles and runs the code blocks of checkpoints.md.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"

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

}  // namespace
}  // namespace tandem
