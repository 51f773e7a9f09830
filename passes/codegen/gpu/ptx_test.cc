// The structure of the code that is made for GPUs.
#include "passes/codegen/gpu/ptx.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/gpu/test_kernels.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

int Count(const std::string& text, const std::string& needle) {
  int n = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + 1)) ++n;
  return n;
}

class PtxTest : public testing::TestWithParam<GpuTestCase> {};

TEST_P(PtxTest, NeedsNothingElse) {
  auto kernel = TestKernel::Create(GetParam().text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const CompiledGpuKernel& gpu = (*kernel)->gpu();
  ASSERT_EQ(gpu.ptx.size(), 2);
  for (const std::string& ptx : gpu.ptx) {
    EXPECT_EQ(Count(ptx, ".visible .entry"), gpu.launch.finish_symbol.empty() ? 1 : 2);
    EXPECT_TRUE(absl::StrContains(ptx, absl::StrCat(".maxntid ", gpu.launch.block, ", 1, 1"))) << ptx;
    EXPECT_FALSE(absl::StrContains(ptx, ".version"));
    for (const char* bad : {".extern", ".local", ".func", "call", "__nv_"}) {
      EXPECT_FALSE(absl::StrContains(ptx, bad)) << bad << "\n" << ptx;
    }
    for (const std::string& fact : GetParam().has) EXPECT_TRUE(absl::StrContains(ptx, fact)) << fact << "\n" << ptx;
    for (const std::string& fact : GetParam().has_not)
      EXPECT_FALSE(absl::StrContains(ptx, fact)) << fact << "\n" << ptx;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxTest, testing::ValuesIn(kGpuTestCases),
                         [](const auto& info) { return info.param.name; });

TEST(PtxArchTest, OthersThanTheKnownAreAnError) {
  EXPECT_TRUE(CheckPtxArch(75).ok());
  EXPECT_TRUE(CheckPtxArch(90).ok());
  for (int arch : {0, 70, 80, 100, 999}) {
    EXPECT_EQ(CheckPtxArch(arch).code(), absl::StatusCode::kInvalidArgument) << arch;
  }
}

TEST(PtxJoinTest, PutsOneHeaderBeforeAll) {
  EXPECT_EQ(JoinPtx(75, {"a\n", "b\n"}), ".version 7.5\n.target sm_75\n.address_size 64\na\nb\n");
}

}  // namespace
}  // namespace tandem
