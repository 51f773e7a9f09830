// Kernels of attention and its gradient for GPUs, walked on the CPU, against their definition in double precision; and
// the structure of their code.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/attention_test_util.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/codegen/gpu/ptx.h"
#include "passes/codegen/gpu/ptxas.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

using Tensors = std::vector<td::RefTensor>;

std::string Text(const AttentionCase& c, bool gradient) {
  return AttentionText(c, gradient, "td", "bf16", "2.500000e-01");
}

std::unique_ptr<TestKernel> Compile(const AttentionCase& c, bool gradient) {
  const std::string text = Text(c, gradient);
  absl::StatusOr<std::unique_ptr<TestKernel>> kernel = TestKernel::Create(text, "gpu");
  EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
  return kernel.ok() ? *std::move(kernel) : nullptr;
}

class GpuAttentionTest : public testing::TestWithParam<AttentionCase> {
 protected:
  // Returns the expected results. `tolerances`: relative to 1 + |expected|, of each result.
  static Tensors Check(TestKernel& kernel, const Tensors& operands, const std::vector<double>& tolerances) {
    const int64_t examples = GetParam().examples;
    absl::StatusOr<Tensors> expected = EvaluateReference(kernel.function(), operands, {.batch = examples});
    EXPECT_TRUE(expected.ok()) << expected.status();
    if (!expected.ok()) return {};
    std::vector<Shape> shapes;
    for (mlir::Type type : kernel.function().getResultTypes()) shapes.push_back(RunShape(type, examples));
    const Tensors actual = kernel.RunOnce(operands, shapes, examples);
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_LT(LargestError({actual[i]}, {(*expected)[i]}), tolerances[i]) << "result " << i;
    }
    std::vector<int64_t> one_by_one;
    for (int64_t n = 0; n <= examples; ++n) one_by_one.push_back(n);
    EXPECT_EQ(kernel.Run(operands, examples, {0, examples}), kernel.Run(operands, examples, one_by_one))
        << "bits depend on the examples of a launch";
    EXPECT_TRUE(kernel.gpu_status().ok()) << kernel.gpu_status();
    return *std::move(expected);
  }
};

// Weights and gradients of products are rounded to bfloat16 (2^-9) before they are multiplied, and so are results;
// scores and their statistics are not.
TEST_P(GpuAttentionTest, MatchesTheDefinition) {
  const AttentionCase& c = GetParam();
  std::unique_ptr<TestKernel> forward = Compile(c, false), gradient = Compile(c, true);
  ASSERT_TRUE(forward && gradient);
  std::mt19937 random(7);
  const Tensors operands = AttentionOperands(c, *forward, random);
  const Tensors results = Check(*forward, operands, {0.008, 2e-6, 4e-6});
  ASSERT_EQ(results.size(), 3);
  Check(*gradient, AttentionGradOperands(c, *gradient, operands, results, random), {0.03, 0.03, 0.03});
}

// heads, queries, keys, size, size of values, heads inside. A warp has 16 rows, a block 64.
const AttentionCase kCases[] = {
    {"OneKey", {1, 1, 1, 16, 16}},
    {"Fewer", {2, 15, 15, 16, 32, true}, false, Keep::kAll, 3},
    {"Warp", {3, 16, 16, 32, 16}},
    {"MoreThanAWarp", {2, 17, 17, 32, 32, true}, false, Keep::kAll, 2},
    {"AlmostABlock", {1, 63, 65, 64, 64, true}},
    {"Block", {2, 64, 64, 64, 64, true}, false, Keep::kAll, 2},
    {"MoreThanABlock", {1, 65, 63, 64, 48}},
    {"Blocks", {2, 130, 130, 64, 64, true}},
    {"FewQueries", {2, 1, 130, 16, 16, true}},
    {"FewKeys", {2, 130, 1, 16, 16}},
    {"OddSizes", {1, 70, 33, 80, 112, true}},
    {"OtherOddSizes", {1, 33, 70, 112, 96}},
    {"LargeSizes", {1, 65, 130, 128, 128, true}},
    {"LargeQueries", {1, 20, 80, 128, 16}},
    {"LargeValues", {1, 80, 20, 16, 128, true}},
    {"Causal", {2, 15, 15, 16, 16, true}, true, Keep::kAll, 3},
    {"CausalBlock", {1, 64, 64, 32, 32}, true},
    {"CausalBlocks", {1, 130, 130, 64, 64, true}, true},
    {"CausalLargeSizes", {1, 130, 130, 128, 128, true}, true},
    {"Keys", {2, 17, 70, 16, 16, true}, false, Keep::kKeys, 3},
    {"KeysOfBlocks", {1, 130, 130, 64, 64, true}, false, Keep::kKeys, 2},
    {"Pairs", {2, 70, 17, 16, 16, true}, false, Keep::kPairs, 3},
    {"PairsOfBlocks", {1, 130, 130, 32, 64}, false, Keep::kPairs, 2},
    {"PairsOfLargeSizes", {1, 65, 65, 128, 112}, false, Keep::kPairs},
    {"CausalKeys", {2, 70, 70, 16, 16, true}, true, Keep::kKeys, 2},
    {"CausalPairs", {1, 70, 70, 32, 16}, true, Keep::kPairs, 2},
};

INSTANTIATE_TEST_SUITE_P(Shapes, GpuAttentionTest, testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

// A score that is not kept may be -infinity, as long as others are kept.
TEST(GpuAttentionMaskTest, BlocksWithoutScores) {
  const AttentionCase c = {"", {1, 3, 130, 16, 16}, false, Keep::kKeys};
  std::string text = Text(c, false);
  const std::string low = "-1.000000e+09", infinity = "0xFFF0000000000000 : f64";
  text.replace(text.find(low), low.size(), infinity);
  auto kernel = TestKernel::Create(text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(3);
  Tensors operands = (*kernel)->RandomOperands(1, random);
  std::fill_n(operands[3].values.begin(), 130, 0.0);
  operands[3].values[100] = operands[3].values[129] = 1;
  absl::StatusOr<double> error = (*kernel)->Error(operands, 1);
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_LT(*error, 0.008);
}

TEST(GpuAttentionCodeTest, HasMatrixInstructionsAndWholeAccesses) {
  for (const AttentionCase& c : kCases) {
    for (bool gradient : {false, true}) {
      std::unique_ptr<TestKernel> kernel = Compile(c, gradient);
      ASSERT_NE(kernel, nullptr);
      const CompiledGpuKernel& gpu = kernel->gpu();
      EXPECT_LE(gpu.launch.scratch_bytes, 0u);
      ASSERT_EQ(gpu.ptx.size(), 2u);
      for (const std::string& ptx : gpu.ptx) {
        for (const char* fact : {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "ldmatrix.sync.aligned.m8n8.x4",
                                 "ex2.approx.ftz.f32", "cvt.rn.bf16x2.f32", "ld.global.nc.v4.u32", "st.global.v4"}) {
          EXPECT_TRUE(absl::StrContains(ptx, fact)) << c.name << ": " << fact;
        }
        for (const char* bad : {"atom", "red.global", "ld.global.u16", "st.global.u16", ".local", "call"}) {
          EXPECT_FALSE(absl::StrContains(ptx, bad)) << c.name << ": " << bad;
        }
      }
    }
  }
}

TEST(GpuAttentionCodeTest, NeedsAmpere) {
  std::unique_ptr<TestKernel> kernel = Compile(kCases[0], false);
  ASSERT_NE(kernel, nullptr);
  GpuCompileOptions options;
  options.archs = {75};
  EXPECT_EQ(CompileGpuKernel(kernel->function(), options).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GpuArchsFor(kernel->function(), 90), (std::vector<int>{80, 90}));
  EXPECT_EQ(GpuArchsFor(kernel->function(), 86), (std::vector<int>{80}));
}

TEST(GpuAttentionCodeTest, PtxasNeedsNoLocalMemory) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed";
  for (const AttentionCase& c : kCases) {
    if (c.shape.queries < 65) continue;  // with loops over blocks, and for time's sake
    for (bool gradient : {false, true}) {
      std::unique_ptr<TestKernel> kernel = Compile(c, gradient);
      ASSERT_NE(kernel, nullptr);
      const int archs[] = {80, 90};
      for (int i = 0; i < 2; ++i) {
        const std::string gpu = absl::StrCat("sm_", archs[i]);
        auto report = RunPtxas(ptxas, JoinPtx(archs[i], {kernel->gpu().ptx[i]}), gpu, testing::TempDir());
        ASSERT_TRUE(report.ok()) << c.name << report.status();
        ASSERT_EQ(report->size(), 1u);
        EXPECT_EQ(report->front().stack_bytes + report->front().spill_bytes, 0)
            << c.name << (gradient ? ", gradient, " : ", ") << gpu;
      }
    }
  }
}

}  // namespace
}  // namespace tandem
