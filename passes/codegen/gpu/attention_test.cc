// Kernels of attention and its gradient for GPUs, walked on the CPU, against their definition in double factors; and
// the structure of their code.
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "passes/codegen/attention_test_util.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/codegen/gpu/matrix_tiles.h"
#include "passes/codegen/gpu/ptx.h"
#include "passes/codegen/gpu/ptxas.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

using Tensors = std::vector<td::RefTensor>;

std::string Text(const AttentionCase& c, Factors factors, bool gradient) {
  const char* element = factors == Factors::kBFloat16 ? "bf16" : "f32";
  const std::string text = AttentionText(c, gradient, "td", element, "2.500000e-01");
  return factors == Factors::kTensorFloat32 ? absl::StrReplaceAll(text, {{"{scale", "{tf32, scale"}}) : text;
}

std::unique_ptr<TestKernel> Compile(const AttentionCase& c, Factors factors, bool gradient) {
  const std::string text = Text(c, factors, gradient);
  absl::StatusOr<std::unique_ptr<TestKernel>> kernel = TestKernel::Create(text, "gpu");
  EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
  return kernel.ok() ? *std::move(kernel) : nullptr;
}

// Relative to 1 + |expected|: of the output, the largest score and the sum, and of the gradients.
struct Tolerances {
  std::vector<double> forward;
  double gradient;
};

// bfloat16: weights and gradients of products are rounded (2^-9) before they are multiplied, and so are results; scores
// and their statistics are not. TensorFloat-32: all factors are rounded (2^-12), those of scores and of gradients of
// weights too. float32: nothing is rounded but sums, over the numbers of a head and over keys.
Tolerances TolerancesOf(Factors factors) {
  if (factors == Factors::kBFloat16) return {{0.008, 2e-6, 4e-6}, 0.03};
  if (factors == Factors::kTensorFloat32) return {{0.004, 0.002, 0.004}, 0.015};
  return {{4e-6, 4e-6, 4e-6}, 1e-5};
}

class GpuAttentionTest : public testing::TestWithParam<std::tuple<AttentionCase, Factors>> {
 protected:
  static void TearDownTestSuite() { compiled.clear(); }

  // The case's kernel, which its tests share. Null where it does not compile, which has failed the test then.
  static TestKernel* Kernel(bool gradient) {
    const auto& [c, factors] = GetParam();
    std::unique_ptr<TestKernel>& kernel = compiled[Text(c, factors, gradient)];
    if (kernel == nullptr) kernel = Compile(c, factors, gradient);
    return kernel.get();
  }

  // Returns the expected results.
  static Tensors Check(TestKernel& kernel, const Tensors& operands, const std::vector<double>& tolerances) {
    const int64_t examples = std::get<0>(GetParam()).examples;
    absl::StatusOr<Tensors> expected = EvaluateReference(kernel.function(), operands, {.batch = examples});
    EXPECT_TRUE(expected.ok()) << expected.status();
    if (!expected.ok()) return {};
    std::vector<Shape> shapes;
    for (mlir::Type type : kernel.function().getResultTypes()) shapes.push_back(RunShape(type, examples));
    const Tensors actual = kernel.RunOnce(operands, shapes, examples);
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = LargestError({actual[i]}, {(*expected)[i]});
      EXPECT_LT(error, tolerances[i]) << "result " << i;
      RecordProperty(absl::StrCat("error_of_result_", i, " of ", actual.size()), absl::StrCat(error));
    }
    std::vector<int64_t> one_by_one;
    for (int64_t n = 0; n <= examples; ++n) one_by_one.push_back(n);
    EXPECT_EQ(kernel.Run(operands, examples, {0, examples}), kernel.Run(operands, examples, one_by_one))
        << "bits depend on the examples of a launch";
    EXPECT_TRUE(kernel.gpu_status().ok()) << kernel.gpu_status();
    return *std::move(expected);
  }

 private:
  static inline std::map<std::string, std::unique_ptr<TestKernel>> compiled;
};

TEST_P(GpuAttentionTest, MatchesTheDefinition) {
  const auto& [c, factors] = GetParam();
  const Tolerances tolerances = TolerancesOf(factors);
  TestKernel *forward = Kernel(false), *gradient = Kernel(true);
  ASSERT_TRUE(forward != nullptr && gradient != nullptr);
  std::mt19937 random(7);
  const Tensors operands = AttentionOperands(c, *forward, random);
  const Tensors results = Check(*forward, operands, tolerances.forward);
  ASSERT_EQ(results.size(), 3);
  Check(*gradient, AttentionGradOperands(c, *gradient, operands, results, random),
        std::vector<double>(3, tolerances.gradient));
}

TEST_P(GpuAttentionTest, HasInstructionsOfItsPrecisionAndWholeAccesses) {
  const char* multiply_adds[] = {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                                 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "fma.rn.f32"};
  const auto& [c, factors] = GetParam();
  for (bool gradient : {false, true}) {
    SCOPED_TRACE(gradient ? "gradient" : "forward");
    TestKernel* kernel = Kernel(gradient);
    ASSERT_NE(kernel, nullptr);
    const CompiledGpuKernel& gpu = kernel->gpu();
    EXPECT_LE(gpu.launch.scratch_bytes, 0u);
    ASSERT_EQ(gpu.ptx.size(), 2u);
    const bool matrices = factors != Factors::kFloat32, rounds = factors == Factors::kTensorFloat32;
    const int64_t in_16_bytes = factors == Factors::kBFloat16 ? 8 : 4;
    // A thread's only load may have been taken apart: its numbers are rounded one by one.
    const bool whole = c.shape.size >= 16 && c.shape.size % in_16_bytes == 0 && c.shape.value_size % in_16_bytes == 0;
    for (const std::string& ptx : gpu.ptx) {
      EXPECT_TRUE(absl::StrContains(ptx, multiply_adds[static_cast<int>(factors)]));
      EXPECT_TRUE(absl::StrContains(ptx, "ex2.approx.ftz.f32"));
      EXPECT_EQ(absl::StrContains(ptx, "mma.sync"), matrices);
      EXPECT_EQ(absl::StrContains(ptx, "ldmatrix.sync.aligned.m8n8.x4"), matrices);
      EXPECT_EQ(absl::StrContains(ptx, "cvt.rna.tf32.f32"), rounds);
      EXPECT_EQ(absl::StrContains(ptx, "cvt.rn.bf16x2.f32"), factors == Factors::kBFloat16);
      if (whole) {
        EXPECT_TRUE(absl::StrContains(ptx, "ld.global.nc.v4"));
        EXPECT_TRUE(absl::StrContains(ptx, "st.global.v4"));
        EXPECT_FALSE(absl::StrContains(ptx, "ld.global.u16"));
        EXPECT_FALSE(absl::StrContains(ptx, "st.global.u16"));
      }
      for (const char* bad : {"atom", "red.global", ".local", "call"}) {
        EXPECT_FALSE(absl::StrContains(ptx, bad)) << bad;
      }
    }
  }
}

TEST_P(GpuAttentionTest, PtxasNeedsNoLocalMemory) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed";
  const auto& [c, factors] = GetParam();
  if (c.shape.queries < 65) return;  // with loops over blocks, and for time's sake
  for (bool gradient : {false, true}) {
    TestKernel* kernel = Kernel(gradient);
    ASSERT_NE(kernel, nullptr);
    const int archs[] = {factors == Factors::kFloat32 ? 75 : 80, 90};
    for (int i = 0; i < 2; ++i) {
      const std::string gpu = absl::StrCat("sm_", archs[i]);
      auto report = RunPtxas(ptxas, JoinPtx(archs[i], {kernel->gpu().ptx[i]}), gpu, testing::TempDir());
      ASSERT_TRUE(report.ok()) << report.status();
      ASSERT_EQ(report->size(), 1u);
      const std::string what = absl::StrCat(gradient ? "gradient_" : "forward_", gpu);
      EXPECT_EQ(report->front().stack_bytes + report->front().spill_bytes, 0) << what;
      RecordProperty(what + "_registers", report->front().registers);
    }
  }
}

// heads, queries, keys, size, size of values, heads inside. A warp has 16 rows, a block 64 or 32.
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
    // Sizes that instructions do not fit, whose rows begin on 16, 8, 4 or 2 bytes.
    {"Size8", {2, 7, 7, 8, 8, true}, false, Keep::kAll, 2},
    {"Size20", {2, 64, 7, 20, 20, true}, false, Keep::kKeys, 2},
    {"Size40", {1, 130, 130, 40, 40, true}, true},
    {"Size100", {1, 130, 64, 100, 100}, false, Keep::kPairs},
    {"Size100OfHeads", {2, 7, 130, 100, 36, true}, false, Keep::kAll, 2},
    {"Size1", {2, 17, 33, 1, 3, true}, false, Keep::kAll, 2},
    {"Size127", {1, 33, 70, 127, 90}, false, Keep::kKeys, 2},
    {"Size112", {1, 65, 65, 112, 100, true}, true, Keep::kPairs},
    {"Size10", {3, 65, 65, 10, 30, true}, true, Keep::kAll, 3},
};

constexpr Factors kAllFactors[] = {Factors::kBFloat16, Factors::kTensorFloat32, Factors::kFloat32};

std::string Name(Factors factors) {
  return factors == Factors::kBFloat16 ? "BFloat16" : factors == Factors::kFloat32 ? "Float32" : "TensorFloat32";
}

INSTANTIATE_TEST_SUITE_P(Shapes, GpuAttentionTest,
                         testing::Combine(testing::ValuesIn(kCases), testing::ValuesIn(kAllFactors)),
                         [](const auto& p) {
                           return absl::StrCat(std::get<0>(p.param).name, Name(std::get<1>(p.param)));
                         });

// A score that is not kept may be -infinity, as long as others are kept.
TEST(GpuAttentionMaskTest, BlocksWithoutScores) {
  for (Factors factors : kAllFactors) {
    const AttentionCase c = {"", {1, 3, 130, 16, 16}, false, Keep::kKeys};
    const std::string text =
        absl::StrReplaceAll(Text(c, factors, false), {{"-1.000000e+09", "0xFFF0000000000000 : f64"}});
    auto kernel = TestKernel::Create(text, "gpu");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(3);
    Tensors operands = (*kernel)->RandomOperands(1, random);
    std::fill_n(operands[3].values.begin(), 130, 0.0);
    operands[3].values[100] = operands[3].values[129] = 1;
    absl::StatusOr<double> error = (*kernel)->Error(operands, 1);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LT(*error, TolerancesOf(factors).forward[0]);
  }
}

// TensorFloat-32 rounds: its results are others than float32's.
TEST(GpuAttentionPrecisionTest, TensorFloat32IsNotFloat32) {
  const AttentionCase c = {"", {1, 16, 16, 16, 16}};
  std::vector<std::vector<Bytes>> results;
  for (Factors factors : {Factors::kTensorFloat32, Factors::kFloat32}) {
    std::unique_ptr<TestKernel> kernel = Compile(c, factors, false);
    ASSERT_NE(kernel, nullptr);
    std::mt19937 random(5);
    results.push_back(kernel->Run(kernel->RandomOperands(1, random), 1, {0, 1}));
  }
  EXPECT_NE(results[0], results[1]);
}

TEST(GpuAttentionCodeTest, RefusesLargeHeads) {
  const AttentionCase c = {"", {1, 16, 16, 144, 16}};
  for (bool gradient : {false, true}) {
    const absl::Status status = TestKernel::Create(Text(c, Factors::kFloat32, gradient), "gpu").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::StrContains(status.message(), "heads of up to 128 numbers, not of 144 and values of 16"))
        << status;
  }
}

TEST(GpuAttentionCodeTest, NeedsAmpere) {
  std::unique_ptr<TestKernel> kernel = Compile(kCases[0], Factors::kBFloat16, false);
  ASSERT_NE(kernel, nullptr);
  GpuCompileOptions options;
  options.archs = {75};
  EXPECT_EQ(CompileGpuKernel(kernel->function(), options).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GpuArchsFor(kernel->function(), 90), (std::vector<int>{80, 90}));
  EXPECT_EQ(GpuArchsFor(kernel->function(), 86), (std::vector<int>{80}));
}

// A GPU without products of TensorFloat-32 matrices computes in float32, as it does where nothing may be rounded.
TEST(GpuAttentionCodeTest, Float32NeedsNoAmpere) {
  for (Factors factors : {Factors::kTensorFloat32, Factors::kFloat32}) {
    std::unique_ptr<TestKernel> kernel = Compile(kCases[0], factors, false);
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(GpuArchsFor(kernel->function(), 75), (std::vector<int>{75}));
    const int oldest = factors == Factors::kTensorFloat32 ? 80 : 75;
    EXPECT_EQ(GpuArchsFor(kernel->function(), 90), (std::vector<int>{oldest, 90}));
    GpuCompileOptions options;
    options.archs = {75};
    const absl::StatusOr<CompiledGpuKernel> compiled = CompileGpuKernel(kernel->function(), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_FALSE(absl::StrContains(compiled->ptx[0], "mma.sync"));
  }
}

}  // namespace
}  // namespace tandem
