#include "runtime/cuda/cudnn_plan_text.h"

#include <random>

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(CudnnPlanTextTest, RoundTrip) {
  const CudnnPlanText plan = {91900, 62, {{2, 7}, {13, 1}, {28, 0}}};
  EXPECT_EQ(FormatCudnnPlan(plan), "cudnn 91900 engine 62 knobs 2=7 13=1 28=0");
  absl::StatusOr<CudnnPlanText> parsed = ParseCudnnPlan(FormatCudnnPlan(plan));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, plan);
  parsed = ParseCudnnPlan("cudnn 90100 engine 1 knobs");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->knobs.empty());
}

TEST(CudnnPlanTextTest, EverythingElseIsAnError) {
  for (const char* text : {"", "cudnn", "cudnn 1 engine 2", "cudnn x engine 2 knobs", "cudnn 1 engine -2 knobs",
                           "cudnn 1 engine 2 knobs 3", "cudnn 1 engine 2 knobs 3=", "cudnn 1 engine 2 knobs =3",
                           "cudnn 1 engine 2 knobs 3=4 3=5", "cudnn 1 engine 2 knobs 3=99999999999",
                           "cudnn 1 engine 2 knobs  3=4", "cudnn 1 engine 2 knobs 3=4=5", "fake plan"}) {
    EXPECT_EQ(ParseCudnnPlan(text).status().code(), absl::StatusCode::kFailedPrecondition) << text;
  }
  std::string many = "cudnn 1 engine 2 knobs";
  for (int i = 0; i < 65; ++i) many += " " + std::to_string(i) + "=1";
  EXPECT_FALSE(ParseCudnnPlan(many).ok());
  EXPECT_FALSE(ParseCudnnPlan(std::string(1 << 20, '1')).ok());
}

// Any bytes parse to an error or to what formats and parses again to the same.
TEST(CudnnPlanTextTest, DamagedBytesAreHarmless) {
  std::mt19937 rng(1);
  const std::string plan = "cudnn 91900 engine 62 knobs 2=7 13=1 28=0";
  for (int i = 0; i < 20000; ++i) {
    std::string text = plan;
    for (int k = rng() % 4; k >= 0; --k) text[rng() % text.size()] = static_cast<char>(rng());
    if (rng() % 4 == 0) text.resize(rng() % text.size());
    absl::StatusOr<CudnnPlanText> parsed = ParseCudnnPlan(text);
    if (!parsed.ok()) continue;
    absl::StatusOr<CudnnPlanText> again = ParseCudnnPlan(FormatCudnnPlan(*parsed));
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(*again, *parsed) << text;
  }
}

}  // namespace
}  // namespace tandem
