// Compiles and runs the code blocks of checkpoints.md.
#include <gtest/gtest.h>

#include <string>

#include "estimator/estimator.h"

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

}  // namespace
}  // namespace tandem
