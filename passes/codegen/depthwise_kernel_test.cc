// Kernels of depthwise convolutions against the reference semantics of their ops.
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Case {
  std::string name;
  int64_t in[2], out[2], window[2];
  int64_t channels, multiplier;
  std::string attributes;
};

std::string Image(const int64_t size[2], int64_t channels) {
  return absl::StrCat("tensor<?x", size[0], "x", size[1], "x", channels, "xf32>");
}

struct Types {
  explicit Types(const Case& c)
      : x(Image(c.in, c.channels)),
        y(Image(c.out, c.channels * c.multiplier)),
        k(absl::StrCat("tensor<", c.window[0], "x", c.window[1], "x1x", c.channels * c.multiplier, "xf32>")) {}
  std::string x, y, k;
};

std::string KernelText(const char* kind, const std::string& a, const std::string& b, const std::string& result,
                       const std::string& op, const std::string& attributes) {
  return absl::StrCat("func.func private @k(%a: ", a, ", %b: ", b, ") -> ", result,
                      " attributes {exec.kernel = #exec.kernel_kind<", kind, ">} { %0 = td.", op, " %a, %b ",
                      attributes, " : ", a, ", ", b, " -> ", result, " return %0 : ", result, " }");
}

void ExpectReference(const std::string& text, const char* target) {
  SCOPED_TRACE(target);
  auto kernel = TestKernel::Create(text, target);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(7);
  for (int64_t batch : {1, 3}) {
    auto error = (*kernel)->Error((*kernel)->RandomOperands(batch, random), batch);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LE(*error, 2e-6) << batch;
  }
}

class DepthwiseKernelTest : public testing::TestWithParam<Case> {};

TEST_P(DepthwiseKernelTest, Forward) {
  const Types t(GetParam());
  const std::string text = KernelText("loop", t.x, t.k, t.y, "depthwise_conv2d", GetParam().attributes);
  for (const char* target : {"native", "gpu"}) ExpectReference(text, target);
}

TEST_P(DepthwiseKernelTest, InputGradient) {
  const Case& c = GetParam();
  const Types t(c);
  const std::string text =
      KernelText("loop", t.y, t.k, t.x, "depthwise_conv2d_input_grad",
                 absl::StrCat("size [", c.in[0], ", ", c.in[1], ", ", c.channels, "] ", c.attributes));
  for (const char* target : {"native", "gpu"}) ExpectReference(text, target);
}

TEST_P(DepthwiseKernelTest, FilterGradient) {
  const Case& c = GetParam();
  const Types t(c);
  const std::string text = KernelText("col", t.y, t.x, t.k, "depthwise_conv2d_filter_grad",
                                      absl::StrCat("size [", c.window[0], ", ", c.window[1], "] ", c.attributes));
  for (const char* target : {"native", "gpu"}) ExpectReference(text, target);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, DepthwiseKernelTest,
    testing::Values(Case{"Same", {6, 7}, {6, 7}, {3, 3}, 19, 1, "strides [1, 1] low [1, 1] high [1, 1]"},
                    Case{"Valid", {6, 7}, {5, 5}, {2, 3}, 16, 1, "strides [1, 1] low [0, 0] high [0, 0]"},
                    Case{"Strided", {7, 6}, {4, 3}, {3, 3}, 8, 1, "strides [2, 2] low [1, 0] high [1, 1]"},
                    Case{"OneTap", {6, 6}, {3, 6}, {1, 1}, 2, 1, "strides [2, 1] low [0, 0] high [0, 0]"},
                    Case{"Gaps", {7, 8}, {3, 2}, {1, 2}, 5, 1, "strides [3, 4] low [0, 0] high [0, 0]"},
                    Case{"Multiplier", {5, 4}, {5, 4}, {3, 2}, 3, 4, "strides [1, 1] low [1, 0] high [1, 1]"},
                    Case{"StridedMultiplier", {7, 6}, {4, 3}, {3, 3}, 5, 2, "strides [2, 2] low [1, 0] high [1, 1]"},
                    Case{"Global", {4, 3}, {1, 1}, {4, 3}, 17, 1, "strides [1, 1] low [0, 0] high [0, 0]"}),
    [](const auto& info) { return info.param.name; });

// One column is no loop over columns.
TEST(DepthwiseKernelErrors, OneChannelIsTheLibrarys) {
  auto kernel = TestKernel::Create(
      KernelText("col", "tensor<?x6x6x1xf32>", "tensor<?x6x6x1xf32>", "tensor<1x1x1x1xf32>",
                 "depthwise_conv2d_filter_grad", "size [1, 1] strides [1, 1] low [0, 0] high [0, 0]"),
      "native");
  EXPECT_NE(
      kernel.status().message().find("td.depthwise_conv2d_filter_grad of these types is no op of a generated kernel"),
      absl::string_view::npos)
      << kernel.status();
}

}  // namespace
}  // namespace tandem
