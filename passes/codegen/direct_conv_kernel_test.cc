// Kernels of direct convolutions with bias and relu against their ops' reference semantics, however rows are split.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Case {
  const char* name;
  int64_t height, width, in, out_height, out_width, out, kernel, stride, low, high;
  bool bias, relu;
};

std::string Text(const Case& c) {
  const std::string x = absl::StrCat("tensor<?x", c.height, "x", c.width, "x", c.in, "xf32>");
  const std::string y = absl::StrCat("tensor<?x", c.out_height, "x", c.out_width, "x", c.out, "xf32>");
  const std::string k = absl::StrCat("tensor<", c.kernel, "x", c.kernel, "x", c.in, "x", c.out, "xf32>");
  const std::string b = absl::StrCat("tensor<", c.out, "xf32>");
  std::string text = absl::StrCat("func.func private @k(%x: ", x, ", %k: ", k, c.bias ? absl::StrCat(", %b: ", b) : "",
                                  ") -> ", y, " attributes {exec.kernel = #exec.kernel_kind<loop>} {\n",
                                  "  %0 = exec.contraction conv2d %x, %k by low_channel strides [", c.stride, ", ",
                                  c.stride, "] low [", c.low, ", ", c.low, "] high [", c.high, ", ", c.high, "] : (", x,
                                  ", ", k, ") -> ", y, "\n");
  std::string last = "%0";
  if (c.bias) {
    absl::StrAppend(&text, "  %1 = td.broadcast %b dims [3] : ", b, " -> ", y, "\n  %2 = td.add %0, %1 : ", y, "\n");
    last = "%2";
  }
  if (c.relu) {
    absl::StrAppend(&text, "  %3 = td.relu ", last, " : ", y, "\n");
    last = "%3";
  }
  return absl::StrCat(text, "  return ", last, " : ", y, "\n}\n");
}

class DirectConvKernelTest : public testing::TestWithParam<Case> {};

TEST_P(DirectConvKernelTest, MatchesReferenceForAnySplit) {
  auto kernel = TestKernel::Create(Text(GetParam()), "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status() << Text(GetParam());
  std::mt19937 random(3);
  auto operands = (*kernel)->RandomOperands(5, random);
  auto error = (*kernel)->Error(operands, 5);
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_LT(*error, 2e-5);
  EXPECT_TRUE((*kernel)->Run(operands, 5, {0, 1, 4, 5}) == (*kernel)->Run(operands, 5, {0, 5}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, DirectConvKernelTest,
                         testing::Values(Case{"Picture", 13, 14, 3, 13, 14, 64, 3, 1, 1, 1, true, true},
                                         Case{"LargeStride", 17, 15, 3, 9, 8, 64, 7, 2, 3, 3, false, false},
                                         Case{"OneSidedPadding", 8, 8, 3, 4, 4, 48, 3, 2, 0, 1, true, false},
                                         Case{"PartialVectors", 6, 9, 2, 4, 7, 83, 3, 1, 0, 0, true, true},
                                         Case{"FewChannels", 5, 40, 1, 3, 38, 9, 3, 1, 0, 0, false, true},
                                         Case{"FewPixels", 4, 3, 4, 2, 1, 70, 3, 1, 0, 0, true, true}),
                         [](const auto& info) { return info.param.name; });

// Lines of 8.8 MB, more than a thread's stack, are not copied: the kernel is one of any ops.
TEST(DirectConvKernelWidth, HasNoLimit) {
  const int64_t width = 2'200'000;
  const std::string x = absl::StrCat("tensor<?x1x", width, "x1xf32>"),
                    y = absl::StrCat("tensor<?x1x", width, "x8xf32>");
  auto kernel = TestKernel::Create(
      absl::StrCat("func.func private @k(%x: ", x, ", %k: tensor<1x3x1x8xf32>) -> ", y,
                   " attributes {exec.kernel = #exec.kernel_kind<loop>} {\n"
                   "  %0 = exec.contraction conv2d %x, %k by few_taps strides [1, 1] low [0, 1] high [0, 1] : (",
                   x, ", tensor<1x3x1x8xf32>) -> ", y, "\n  return %0 : ", y, "\n}\n"),
      "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(3);
  auto operands = (*kernel)->RandomOperands(1, random);
  EXPECT_TRUE((*kernel)->Run(operands, 1, {0, 1}) == (*kernel)->Run(operands, 1, {0, 1}));
}

}  // namespace
}  // namespace tandem
