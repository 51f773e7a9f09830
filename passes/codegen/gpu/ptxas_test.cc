// ptxas accepts the code of every skeleton, and needs no local memory for it. Where it is not installed these tests are
// skipped, and say so.
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/codegen/gpu/ptx.h"
#include "passes/codegen/gpu/ptxas.h"
#include "passes/codegen/gpu/test_kernels.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

TEST(PtxasTest, AcceptsEveryKernelWithoutSpills) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed (looked in $CUDA_HOME, $PATH and /usr/local/cuda)";
  std::vector<std::unique_ptr<TestKernel>> kernels;
  std::map<std::string, std::string> names;
  for (const GpuTestCase& c : kGpuTestCases) {
    auto kernel = TestKernel::Create(c.text, "gpu");
    ASSERT_TRUE(kernel.ok()) << c.name << kernel.status();
    names[(*kernel)->gpu().symbol] = c.name;
    kernels.push_back(*std::move(kernel));
  }
  const int archs[] = {75, 90};
  for (int i = 0; i < 2; ++i) {
    std::vector<absl::string_view> texts;
    for (const auto& kernel : kernels) texts.push_back(kernel->gpu().ptx[i]);
    for (const std::string& gpu : GpusOfImage(archs[i])) {
      auto report = RunPtxas(ptxas, JoinPtx(archs[i], texts), gpu, testing::TempDir());
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_GE(report->size(), kernels.size()) << gpu;
      for (const PtxasKernel& kernel : *report) {
        EXPECT_EQ(kernel.stack_bytes, 0) << gpu << " " << names[kernel.symbol];
        EXPECT_EQ(kernel.spill_bytes, 0) << gpu << " " << names[kernel.symbol];
        EXPECT_GT(kernel.registers, 0) << gpu << " " << names[kernel.symbol];
      }
    }
  }
}

TEST(PtxasTest, AcceptsEntriesForGroups) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed";
  for (const GpuTestCase& c : kGpuTestCases) {
    if (c.name != "InPlace") continue;
    auto kernel = TestKernel::Create(c.text, "gpu");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    GpuCompileOptions options;
    options.grouped = true;
    auto compiled = CompileGpuKernel((*kernel)->function(), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    for (int i = 0; i < 2; ++i) {
      const int arch = options.archs[i];
      for (const std::string& gpu : GpusOfImage(arch)) {
        auto report = RunPtxas(ptxas, JoinPtx(arch, {compiled->ptx[i]}), gpu, testing::TempDir());
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_EQ(report->size(), 2u) << gpu;
        for (const PtxasKernel& k : *report) EXPECT_EQ(k.stack_bytes + k.spill_bytes, 0) << gpu << " " << k.symbol;
      }
    }
  }
}

TEST(PtxasTest, ReportsWhatIsWrong) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed";
  EXPECT_FALSE(RunPtxas(ptxas, JoinPtx(75, {"nonsense\n"}), "sm_75", testing::TempDir()).ok());
}

}  // namespace
}  // namespace tandem
