// Kernels of attention and its gradient against their definition in double precision.
#include "passes/codegen/attention_kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/attention_scratch.h"

namespace tandem {
namespace {

using Tensors = std::vector<td::RefTensor>;

enum class Keep { kAll, kKeys, kPairs };

struct Case {
  const char* name;
  AttentionShape shape;
  bool causal = false;
  Keep keep = Keep::kAll;
};

constexpr int64_t kExamples = 3;

std::string Tensor(const std::vector<int64_t>& dims, const char* element = "f32") {
  std::string text = "tensor<?x";
  for (int64_t d : dims) absl::StrAppend(&text, d, "x");
  return absl::StrCat(text, element, ">");
}

// A kernel of the op, and its values' types.
class Texts {
 public:
  explicit Texts(const Case& c) : c_(c) {
    const AttentionShape& s = c.shape;
    query_ = Rows(s.queries, s.size), key_ = Rows(s.keys, s.size), value_ = Rows(s.keys, s.value_size);
    output_ = Rows(s.queries, s.value_size), statistic_ = Tensor({s.heads, s.queries});
  }

  std::string Forward() const {
    return Text("attention", {query_, key_, value_}, {output_, statistic_, statistic_}, /*gradient=*/false);
  }
  std::string Gradient() const {
    return Text("attention_grad", {query_, key_, value_, output_, statistic_, statistic_, output_},
                {query_, key_, value_}, /*gradient=*/true);
  }

 private:
  std::string Rows(int64_t positions, int64_t width) const {
    const int64_t heads = c_.shape.heads;
    return c_.shape.heads_inside ? Tensor({positions, heads, width}) : Tensor({heads, positions, width});
  }

  std::string Text(const char* op, std::vector<std::string> operands, std::vector<std::string> results,
                   bool gradient) const {
    const AttentionShape& s = c_.shape;
    std::string arguments, values, types;
    if (c_.keep == Keep::kKeys) operands.push_back(Tensor({s.keys}, "i1"));
    if (c_.keep == Keep::kPairs) operands.push_back(Tensor({s.queries, s.keys}, "i1"));
    const size_t plain = operands.size() - (c_.keep == Keep::kAll ? 0 : 1);
    for (size_t i = 0; i < operands.size(); ++i) {
      const char* comma = i == 0 ? "" : ", ";
      absl::StrAppend(&arguments, comma, "%a", i, ": ", operands[i]);
      absl::StrAppend(&types, comma, operands[i]);
      absl::StrAppend(&values, i == 0 ? "" : i == plain ? " keep " : ", ", "%a", i);
    }
    results.push_back(absl::StrCat("tensor<", 4 * AttentionScratch(s, gradient).floats, "xui8>"));
    std::string made;
    for (const std::string& r : results) absl::StrAppend(&made, made.empty() ? "" : ", ", r);
    return absl::StrCat("func.func private @k(", arguments, ") -> (", made,
                        ") attributes {exec.kernel = #exec.kernel_kind<tile>} { %0:4 = exec.", op, " ", values,
                        " {scale = 4.000000e-01, low = -1.000000e+09", c_.causal ? ", causal" : "",
                        s.heads_inside ? ", heads_inside" : "", "} : (", types, ") -> (", made,
                        ") return %0#0, %0#1, %0#2, %0#3 : ", made, " }");
  }

  const Case& c_;
  std::string query_, key_, value_, output_, statistic_;
};

class AttentionKernelTest : public testing::TestWithParam<Case> {
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
  const Texts texts(GetParam());
  std::unique_ptr<TestKernel> forward = Compile(texts.Forward()), gradient = Compile(texts.Gradient());
  ASSERT_TRUE(forward && gradient);
  std::mt19937 random(7);
  Tensors operands = forward->RandomOperands(kExamples, random);
  if (GetParam().keep != Keep::kAll) {
    // The first query, or all, of the last example attends to nothing: to all keys alike.
    std::vector<double>& keep = operands.back().values;
    const int64_t keys = GetParam().shape.keys, row = static_cast<int64_t>(keep.size()) / kExamples * 2;
    std::fill_n(keep.begin() + row, keys, 0.0);
  }
  const Tensors results = Check(*forward, operands);
  ASSERT_EQ(results.size(), 4);
  Tensors of_gradient(operands.begin(), operands.begin() + 3);
  of_gradient.insert(of_gradient.end(), results.begin(), results.begin() + 3);
  of_gradient.push_back(gradient->RandomOperands(kExamples, random)[6]);
  of_gradient.insert(of_gradient.end(), operands.begin() + 3, operands.end());
  Check(*gradient, of_gradient);
}

// heads, queries, keys, size, size of values, heads inside. Sizes around vectors, panels (64) and blocks (48 queries).
INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionKernelTest,
    testing::Values(Case{"OneKey", {1, 1, 1, 1, 1}}, Case{"Small", {2, 5, 5, 3, 3, true}},
                    Case{"HeadsInFront", {3, 7, 9, 4, 5}}, Case{"Vectors", {2, 16, 16, 16, 16, true}},
                    Case{"Panels", {1, 48, 64, 64, 64, true}}, Case{"PartsOfPanels", {2, 49, 97, 40, 24, true}},
                    Case{"WideRows", {1, 13, 20, 80, 130}}, Case{"ManyKeys", {1, 3, 700, 8, 8, true}},
                    Case{"ManyQueries", {1, 200, 17, 8, 20}}, Case{"Causal", {2, 5, 5, 3, 3, true}, true},
                    Case{"CausalBlocks", {1, 150, 150, 33, 17, true}, true},
                    Case{"CausalHeadsInFront", {2, 64, 64, 16, 16}, true},
                    Case{"Keys", {2, 50, 70, 8, 8, true}, false, Keep::kKeys},
                    Case{"Pairs", {2, 50, 70, 8, 8, true}, false, Keep::kPairs},
                    Case{"PairsInFront", {3, 5, 21, 4, 6}, false, Keep::kPairs},
                    Case{"CausalKeys", {2, 70, 70, 8, 8, true}, true, Keep::kKeys},
                    Case{"CausalPairs", {1, 20, 20, 5, 5}, true, Keep::kPairs}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace tandem
