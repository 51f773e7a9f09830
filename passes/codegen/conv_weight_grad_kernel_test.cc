// Kernels of convolutions' weight gradients against gradients in double precision, and their bits however the work is
// split over threads and devices.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Case {
  const char* name;
  int64_t height, width, in, out_height, out_width, out, kernel, stride, pad, lanes, lane_rows;
  bool bfloat16 = false;  // operands
  int64_t rows() const { return kernel * kernel * in; }
};

std::string Text(const Case& c) {
  const char* element = c.bfloat16 ? "bf16" : "f32";
  const std::string x = absl::StrCat("tensor<?x", c.height, "x", c.width, "x", c.in, "x", element, ">");
  const std::string dy = absl::StrCat("tensor<?x", c.out_height, "x", c.out_width, "x", c.out, "x", element, ">");
  const std::string dk = absl::StrCat("tensor<", c.kernel, "x", c.kernel, "x", c.in, "x", c.out, "xf32>");
  return absl::StrCat("func.func private @k(%x: ", x, ", %dy: ", dy, ") -> ", dk,
                      " attributes {exec.kernel = #exec.kernel_kind<block>} {\n"
                      "  %0 = exec.contraction conv2d_filter_grad %x, %dy by weight_grad_blocks size [",
                      c.kernel, ", ", c.kernel, "] strides [", c.stride, ", ", c.stride, "] low [", c.pad, ", ", c.pad,
                      "] high [", c.pad, ", ", c.pad, "] {lanes = ", c.lanes, " : i64, lane_rows = ", c.lane_rows,
                      " : i64} : (", x, ", ", dy, ") -> ", dk, "\n  return %0 : ", dk, "\n}\n");
}

class ConvWeightGradKernelTest : public testing::TestWithParam<Case> {
 protected:
  static std::unique_ptr<TestKernel> Compile(const Case& c) {
    auto kernel = TestKernel::Create(Text(c), "native");
    EXPECT_TRUE(kernel.ok()) << kernel.status() << Text(c);
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }
  void SetUp() override { ASSERT_TRUE(kernel_ = Compile(GetParam())); }
  static Bytes Run(TestKernel& kernel, const std::vector<td::RefTensor>& operands, int64_t batch,
                   std::vector<int64_t> splits) {
    kernel.row_offset = batch;
    return kernel.Run(operands, batch, std::move(splits))[0];
  }

  std::unique_ptr<TestKernel> kernel_;
  std::mt19937 random_{1};
};

TEST_P(ConvWeightGradKernelTest, EqualsGradientsInDoublePrecision) {
  const Case& c = GetParam();
  for (int64_t batch : {c.lanes * c.lane_rows, c.lanes * c.lane_rows - 1, int64_t{1}}) {
    kernel_->row_offset = batch;
    auto error = kernel_->Error(kernel_->RandomOperands(batch, random_), batch);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LT(*error, 2e-5) << batch << " examples";
  }
}

TEST_P(ConvWeightGradKernelTest, BitsDoNotDependOnTheSplit) {
  const Case& c = GetParam();
  const int64_t batch = c.lanes * c.lane_rows;
  auto operands = kernel_->RandomOperands(batch, random_);
  Bytes whole = Run(*kernel_, operands, batch, {0, c.rows()});
  EXPECT_TRUE(Run(*kernel_, operands, batch, {0, 1, c.rows() / 2, c.rows() - 3, c.rows()}) == whole);
}

// A subtree of lanes on a device of its own gives the bits that the whole tree combines; lanes without rows change
// nothing.
TEST_P(ConvWeightGradKernelTest, LanesCombineAsATree) {
  const Case& c = GetParam();
  if (c.lanes == 1) return;
  const int64_t half = c.lanes / 2 * c.lane_rows;
  Case part = c;
  part.lanes = c.lanes / 2;
  auto kernel = Compile(part);
  ASSERT_TRUE(kernel);
  auto operands = kernel_->RandomOperands(2 * half, random_);
  const Bytes whole = Run(*kernel_, operands, 2 * half, {0, c.rows()});
  std::vector<std::vector<float>> halves;
  for (int i = 0; i < 2; ++i) {
    std::vector<td::RefTensor> mine = operands;
    for (td::RefTensor& t : mine) {
      const int64_t n = static_cast<int64_t>(t.values.size()) / 2;
      t.values = std::vector<double>(t.values.begin() + i * n, t.values.begin() + (i + 1) * n);
      t.shape[0] = half;
    }
    Bytes bytes = Run(*kernel, mine, half, {0, c.rows()});
    if (i == 0) {
      EXPECT_TRUE(Run(*kernel_, mine, half, {0, c.rows()}) == bytes);
    }
    halves.emplace_back(bytes.size() / sizeof(float));
    std::memcpy(halves.back().data(), bytes.data(), bytes.size());
  }
  int64_t different = 0;
  for (size_t i = 0; i < halves[0].size(); ++i) {
    float sum = halves[0][i] + halves[1][i], got;
    std::memcpy(&got, &whole[i * sizeof(float)], sizeof got);
    different += sum != got;
  }
  EXPECT_EQ(different, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ConvWeightGradKernelTest,
                         testing::Values(Case{"OneByOne", 5, 3, 24, 5, 3, 40, 1, 1, 0, 4, 2},
                                         Case{"Strided", 6, 7, 16, 3, 4, 50, 1, 2, 0, 2, 3},
                                         Case{"ManyRows", 2, 2, 270, 2, 2, 32, 1, 1, 0, 2, 2},
                                         Case{"ManyRowsOfTaps", 3, 2, 70, 3, 2, 50, 3, 1, 1, 2, 1},
                                         Case{"ManyPixels", 30, 30, 36, 15, 15, 33, 3, 2, 1, 4, 1},
                                         Case{"Padded", 4, 5, 13, 4, 5, 33, 3, 1, 1, 4, 1},
                                         Case{"StridedAndPadded", 7, 5, 8, 4, 3, 64, 3, 2, 1, 1, 3},
                                         Case{"WindowAsLargeAsTheImage", 3, 3, 9, 1, 1, 35, 3, 1, 0, 8, 1},
                                         Case{"BFloat16", 4, 5, 13, 4, 5, 33, 3, 1, 1, 4, 1, true},
                                         Case{"BFloat16OneByOne", 6, 7, 16, 3, 4, 50, 1, 2, 0, 2, 3, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem
