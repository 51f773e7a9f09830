// Runs what strategies.md shows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tandem/base/cross_device_ops.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/train_and_evaluate.h"

namespace tandem {
namespace {

const ModelFn MyModelFn = test::LineModel;    // NOLINT: the page's names
const InputFn MyInputFn = test::LineInput();  // NOLINT

#include "docs/guide/strategies_test_blocks.inc"

// The compiled step in a model_dir names the ops of the page.
TEST(StrategiesPage, TrainsWithOpsOfItsOwn) {
  const std::string folder = test::ModelDir();
  for (const auto block : kBlocks) {
    const absl::Status status = block(folder);
    ASSERT_TRUE(status.ok()) << status;
  }
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/compiled")) {
    if (entry.path().extension() != ".tdx") continue;
    ++programs;
    const auto bytes = Env::Default()->ReadFile(entry.path().string());
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_THAT(*bytes, ::testing::HasSubstr("SumsInDouble"));
  }
  EXPECT_EQ(programs, 1);
}

// Evaluations bring metrics, whose sums have other types than gradients.
TEST(StrategiesPage, EvaluatesWithOpsOfItsOwn) {
  RunConfig config{.model_dir = test::ModelDir()};
  config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1", "cpu:2"}, "SumsInDouble");  // the test before registers
  Estimator estimator(MyModelFn, config);
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = MyInputFn, .max_steps = 5}, {.input_fn = test::LineInput(61, 8, 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(std::isfinite((*result)["mean_y"]));
}

TEST(StrategiesPage, RefusesWhatItDoesNotAdd) {
  uint8_t values[2] = {1, 2};
  SumsInDouble ops;
  const absl::Status status = ops.AllReduce({DType::kUInt8, 1, {&values[0], &values[1]}}, [](auto, auto) {});
  EXPECT_EQ(status.message(), "SumsInDouble adds no uint8");
}

}  // namespace
}  // namespace tandem
