// Runs what strategies.md shows.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "base/cross_device_ops.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

// The error of a function of the page is the step's.
TEST(StrategiesPage, RefusesWhatItDoesNotAdd) {
  int64_t values[2] = {1, 2};
  SumsInDouble ops;
  const absl::Status status = ops.AllReduce({DType::kInt64, 1, {&values[0], &values[1]}}, [](auto, auto) {});
  EXPECT_EQ(status.message(), "SumsInDouble adds float32 numbers only");
}

}  // namespace
}  // namespace tandem
