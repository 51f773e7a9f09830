#include "runtime/cuda/libraries/cudnn_plan_text.h"

#include <random>

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(CudnnPlanTextTest, RoundTrip) {
  CudnnPlanText plan = {91900, 62, {{2, 7}, {13, 1}, {28, 0}}, ""};
  EXPECT_EQ(FormatCudnnPlan(plan), "cudnn 91900 engine 62 knobs 2=7 13=1 28=0");
  absl::StatusOr<CudnnPlanText> parsed = ParseCudnnPlan(FormatCudnnPlan(plan));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, plan);
  plan.preferred = "eng49_k0=23_k12=-1";
  EXPECT_EQ(FormatCudnnPlan(plan), "cudnn 91900 engine 62 knobs 2=7 13=1 28=0 preferred eng49_k0=23_k12=-1");
  parsed = ParseCudnnPlan(FormatCudnnPlan(plan));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, plan);
  parsed = ParseCudnnPlan("cudnn 90100 engine 1 knobs");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->knobs.empty());
}

TEST(CudnnPlanTextTest, EverythingElseIsAnError) {
  for (const char* text :
       {"", "cudnn", "cudnn 1 engine 2", "cudnn x engine 2 knobs", "cudnn 1 engine -2 knobs",
        "cudnn 1 engine 2 knobs 3", "cudnn 1 engine 2 knobs 3=", "cudnn 1 engine 2 knobs =3",
        "cudnn 1 engine 2 knobs 3=4 3=5", "cudnn 1 engine 2 knobs 3=99999999999", "cudnn 1 engine 2 knobs  3=4",
        "cudnn 1 engine 2 knobs 3=4=5", "fake plan", "cudnn 1 engine 2 knobs preferred",
        "cudnn 1 engine 2 knobs preferred ", "cudnn 1 engine 2 knobs preferred all", "cudnn 1 engine 2 preferred eng1",
        "cudnn 1 engine 2 knobs preferred eng1 2=3"}) {
    EXPECT_EQ(ParseCudnnPlan(text).status().code(), absl::StatusCode::kFailedPrecondition) << text;
  }
  std::string many = "cudnn 1 engine 2 knobs";
  for (int i = 0; i < 65; ++i) many += " " + std::to_string(i) + "=1";
  EXPECT_FALSE(ParseCudnnPlan(many).ok());
  EXPECT_FALSE(ParseCudnnPlan(std::string(1 << 20, '1')).ok());
}

TEST(CudnnPlanTextTest, AReplayHasTheSettingsThatMatter) {
  EXPECT_TRUE(IsReplayOf("eng41_k2=1_k13=0", "eng41_k2=1_k13=0"));
  EXPECT_TRUE(IsReplayOf("eng11_k2=4_k3=0", "eng11_k2=4"));
  EXPECT_TRUE(IsReplayOf("eng44", "eng44"));
  EXPECT_FALSE(IsReplayOf("eng49_k0=23_k2=5_k5=4_k14=4", "eng49_k2=5_k14=4"));
  EXPECT_FALSE(IsReplayOf("eng41_k2=1", "eng41_k2=2"));
  EXPECT_FALSE(IsReplayOf("eng41_k2=1", "eng4_k2=1"));
  EXPECT_FALSE(IsReplayOf("eng41_k30=1", "eng41"));
}

TEST(CudnnPlanTextTest, EngineZeroIsForGroups) {
  EXPECT_TRUE(IsGroupedEngine("eng0"));
  EXPECT_TRUE(IsGroupedEngine("eng0_k2=1"));
  EXPECT_FALSE(IsGroupedEngine("eng01"));
  EXPECT_FALSE(IsGroupedEngine("eng10_k2=0"));
  EXPECT_FALSE(IsGroupedEngine(""));
}

TEST(CudnnPlanTextTest, EngineOneIsForEvenPads) {
  EXPECT_TRUE(IsOfEvenPadsOnly("eng1"));
  EXPECT_TRUE(IsOfEvenPadsOnly("eng1_k2=6_k3=0"));
  EXPECT_FALSE(IsOfEvenPadsOnly("eng11_k2=4"));
  EXPECT_FALSE(IsOfEvenPadsOnly("eng0"));
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
