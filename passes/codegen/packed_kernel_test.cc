// Filter gradients by tiles of bfloat16 numbers against sums in double precision over the same bfloat16 images.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/packed_shape.h"

namespace tandem {
namespace {

struct Case {
  const char* name;
  int64_t height, width, in, out, kernel[2], stride[2], low[2], high[2];
};

PackedShape ShapeOf(const Case& c) {
  PackedShape s;
  s.height = c.height, s.width = c.width, s.channels_in = c.in, s.channels_out = c.out;
  int64_t* out[] = {&s.out_height, &s.out_width};
  const int64_t in[] = {c.height, c.width};
  for (int d = 0; d < 2; ++d) {
    s.kernel[d] = c.kernel[d], s.stride[d] = c.stride[d], s.pad_low[d] = c.low[d];
    *out[d] = (in[d] + c.low[d] + c.high[d] - c.kernel[d]) / c.stride[d] + 1;
  }
  return s;
}

std::string Text(const Case& c) {
  const PackedShape s = ShapeOf(c);
  const std::string x = absl::StrCat("tensor<?x", c.height, "x", c.width, "x", c.in, "xbf16>");
  const std::string dy = absl::StrCat("tensor<?x", s.out_height, "x", s.out_width, "x", c.out, "xbf16>");
  const std::string results = absl::StrCat("tensor<", c.kernel[0], "x", c.kernel[1], "x", c.in, "x", c.out,
                                           "xf32>, tensor<", 4 * PackedScratch(s).floats, "xui8>");
  auto pair = [](const int64_t* n) { return absl::StrCat(" [", n[0], ", ", n[1], "]"); };
  return absl::StrCat("func.func private @k(%x: ", x, ", %dy: ", dy, ") -> (", results,
                      ") attributes {exec.kernel = #exec.kernel_kind<tile>} { "
                      "%0:2 = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size",
                      pair(c.kernel), " strides", pair(c.stride), " low", pair(c.low), " high", pair(c.high), " : (", x,
                      ", ", dy, ") -> (", results, ") return %0#0, %0#1 : ", results, " }");
}

class PackedKernelTest : public testing::TestWithParam<Case> {};

// Blocks of 2 x 2 registers and single ones, strides, pads, odd sizes, images that share registers and groups of images
// one after the other.
TEST_P(PackedKernelTest, IsTheGradient) {
  absl::StatusOr<CpuTarget> host = HostCpuTarget();
  ASSERT_TRUE(host.ok()) << host.status();
  if (!host->has_tiles) GTEST_SKIP() << "this CPU has no AMX";
  const Case& c = GetParam();
  absl::StatusOr<std::unique_ptr<TestKernel>> kernel = TestKernel::Create(Text(c), "native-bf16");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(1);
  constexpr int64_t kRows = 5;
  const std::vector<td::RefTensor> operands = (*kernel)->RandomOperands(kRows, random);
  absl::StatusOr<std::vector<td::RefTensor>> expected =
      EvaluateReference((*kernel)->function(), operands, {.batch = kRows});
  ASSERT_TRUE(expected.ok()) << expected.status();
  auto gradient = [&](const std::vector<int64_t>& splits) {
    const Bytes bytes = (*kernel)->Run(operands, kRows, splits)[0];
    const float* floats = reinterpret_cast<const float*>(bytes.data());
    return std::vector<float>(floats, floats + bytes.size() / sizeof(float));
  };
  const std::vector<float> actual = gradient({0, kRows});
  ASSERT_EQ(actual.size(), (*expected)[0].values.size());
  const PackedShape s = ShapeOf(c);
  // Sums of some hundred to thousand products in float32.
  const double tolerance = 1e-5 * std::sqrt(kRows * s.out_height * s.out_width);
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], (*expected)[0].values[i], tolerance) << i;
  // A call sets its result and its scratch memory, whatever a call before left there.
  EXPECT_EQ((*kernel)->Run(operands, kRows, {0, 3, kRows})[0], (*kernel)->Run(operands, kRows, {3, kRows})[0]);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PackedKernelTest,
                         testing::Values(Case{"S0Second", 13, 13, 32, 64, {3, 3}, {1, 1}, {0, 0}, {0, 0}},
                                         Case{"S0Third", 5, 5, 64, 64, {3, 3}, {1, 1}, {0, 0}, {0, 0}},
                                         Case{"Same", 8, 7, 16, 48, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                         Case{"StrideTwo", 9, 10, 48, 16, {3, 3}, {2, 2}, {0, 0}, {1, 1}},
                                         Case{"StrideTwoPadded", 9, 9, 16, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
                                         Case{"StrideWithoutReach", 8, 8, 32, 32, {1, 1}, {2, 2}, {0, 0}, {0, 0}},
                                         Case{"FiveBySeven", 12, 11, 16, 32, {5, 7}, {1, 2}, {2, 3}, {2, 3}},
                                         Case{"ManyPixels", 30, 30, 16, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                         Case{"OneTap", 12, 11, 48, 32, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
                                         Case{"OnePixel", 1, 1, 32, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}}),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

}  // namespace
}  // namespace tandem
