// Kernels of attention and its gradient against their definition in double precision.

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/attention_test_util.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/attention_scratch.h"

namespace tandem {
namespace {

using Tensors = std::vector<td::RefTensor>;

constexpr int64_t kExamples = 3;

std::string Text(const AttentionCase& c, bool gradient) {
  const int64_t bytes = 4 * AttentionScratch(c.shape, gradient).floats;
  return AttentionText(c, gradient, "exec", "f32", "4.000000e-01", absl::StrCat("tensor<", bytes, "xui8>"));
}

class AttentionKernelTest : public testing::TestWithParam<AttentionCase> {
 protected:
  static std::unique_ptr<TestKernel> Compile(const std::string& text) {
    absl::StatusOr<std::unique_ptr<TestKernel>> kernel = TestKernel::Create(text, "native");
    EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }

  // Everything but the scratch memory, in one call and in one for each example.
  static Tensors Check(TestKernel& kernel, const Tensors& operands) {
    absl::StatusOr<Tensors> expected = EvaluateReference(kernel.function(), operands, {.batch = kExamples});
    EXPECT_TRUE(expected.ok()) << expected.status();
    if (!expected.ok()) return {};
    const std::vector<Bytes> whole = kernel.Run(operands, kExamples, {0, kExamples});
    const std::vector<Bytes> parts = kernel.Run(operands, kExamples, {0, 1, 2, kExamples});
    std::vector<Shape> shapes;
    for (mlir::Type type : kernel.function().getResultTypes()) shapes.push_back(RunShape(type, kExamples));
    const Tensors actual = kernel.RunOnce(operands, shapes, kExamples);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(whole[i], parts[i]) << "result " << i << ": bits depend on the examples of a call";
      EXPECT_LT(LargestError({actual[i]}, {(*expected)[i]}), 3e-5) << "result " << i;
    }
    return *std::move(expected);
  }
};

TEST_P(AttentionKernelTest, MatchesTheDefinition) {
  AttentionCase c = GetParam();
  c.examples = kExamples;
  std::unique_ptr<TestKernel> forward = Compile(Text(c, false)), gradient = Compile(Text(c, true));
  ASSERT_TRUE(forward && gradient);
  std::mt19937 random(7);
  const Tensors operands = AttentionOperands(c, *forward, random), results = Check(*forward, operands);
  ASSERT_EQ(results.size(), 4);
  Check(*gradient, AttentionGradOperands(c, *gradient, operands, results, random));
}

// heads, queries, keys, size, size of values, heads inside. Sizes around vectors, panels (64) and blocks (48 queries).
INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionKernelTest,
    testing::Values(AttentionCase{"OneKey", {1, 1, 1, 1, 1}}, AttentionCase{"Small", {2, 5, 5, 3, 3, true}},
                    AttentionCase{"HeadsInFront", {3, 7, 9, 4, 5}}, AttentionCase{"Vectors", {2, 16, 16, 16, 16, true}},
                    AttentionCase{"Panels", {1, 48, 64, 64, 64, true}},
                    AttentionCase{"PartsOfPanels", {2, 49, 97, 40, 24, true}},
                    AttentionCase{"WideRows", {1, 13, 20, 80, 130}}, AttentionCase{"ManyKeys", {1, 3, 700, 8, 8, true}},
                    AttentionCase{"ManyQueries", {1, 200, 17, 8, 20}},
                    AttentionCase{"Causal", {2, 5, 5, 3, 3, true}, true},
                    AttentionCase{"CausalBlocks", {1, 150, 150, 33, 17, true}, true},
                    AttentionCase{"CausalHeadsInFront", {2, 64, 64, 16, 16}, true},
                    AttentionCase{"Keys", {2, 50, 70, 8, 8, true}, false, Keep::kKeys},
                    AttentionCase{"Pairs", {2, 50, 70, 8, 8, true}, false, Keep::kPairs},
                    AttentionCase{"PairsInFront", {3, 5, 21, 4, 6}, false, Keep::kPairs},
                    AttentionCase{"CausalKeys", {2, 70, 70, 8, 8, true}, true, Keep::kKeys},
                    AttentionCase{"CausalPairs", {1, 20, 20, 5, 5}, true, Keep::kPairs}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace tandem
