// Kernels of weight gradients against products in double precision, and their bits however the work is split.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Case {
  int64_t inner, rows, columns, lanes, lane_rows;  // inner: rows of the operands per example, 0 for matrices
  bool bfloat16 = false;                           // operands
};

std::string Text(const Case& c) {
  const std::string middle = c.inner > 0 ? absl::StrCat(c.inner, "x") : "";
  const char* element = c.bfloat16 ? "bf16" : "f32";
  const std::string x = absl::StrCat("tensor<?x", middle, c.rows, "x", element, ">");
  const std::string dy = absl::StrCat("tensor<?x", middle, c.columns, "x", element, ">");
  const std::string dw = absl::StrCat("tensor<", c.rows, "x", c.columns, "xf32>");
  return absl::StrCat("func.func private @k(%x: ", x, ", %dy: ", dy, ") -> ", dw,
                      " attributes {exec.kernel = #exec.kernel_kind<block>} {\n"
                      "  %0 = exec.contraction matmul %x, %dy by weight_grad_blocks {lanes = ",
                      c.lanes, " : i64, lane_rows = ", c.lane_rows, " : i64} : (", x, ", ", dy, ") -> ", dw,
                      "\n  return %0 : ", dw, "\n}\n");
}

class WeightGradKernelTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    auto kernel = TestKernel::Create(Text(GetParam()), "native");
    ASSERT_TRUE(kernel.ok()) << kernel.status() << Text(GetParam());
    kernel_ = *std::move(kernel);
  }
  std::vector<td::RefTensor> Operands(int64_t batch) { return kernel_->RandomOperands(batch, random_); }
  Bytes Run(const std::vector<td::RefTensor>& operands, int64_t batch, std::vector<int64_t> splits) {
    kernel_->row_offset = batch;
    return kernel_->Run(operands, batch, std::move(splits))[0];
  }

  std::unique_ptr<TestKernel> kernel_;
  std::mt19937 random_{1};
};

TEST_P(WeightGradKernelTest, EqualsProductsInDoublePrecision) {
  const Case& c = GetParam();
  for (int64_t batch : {c.lanes * c.lane_rows, c.lanes * c.lane_rows - 1, c.lane_rows + 1, int64_t{1}}) {
    if (batch > c.lanes * c.lane_rows) continue;
    kernel_->row_offset = batch;
    auto error = kernel_->Error(Operands(batch), batch);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LT(*error, 2e-5) << batch << " rows";
  }
}

TEST_P(WeightGradKernelTest, BitsDoNotDependOnTheSplit) {
  const Case& c = GetParam();
  const int64_t batch = c.lanes * c.lane_rows;
  auto operands = Operands(batch);
  Bytes whole = Run(operands, batch, {0, c.rows});
  EXPECT_TRUE(Run(operands, batch, {0, 1, c.rows / 2, c.rows}) == whole);
}

// A subtree of lanes on a device of its own gives the bits that the whole tree combines.
TEST_P(WeightGradKernelTest, LanesCombineAsATree) {
  const Case& c = GetParam();
  if (c.lanes == 1) return;
  const int64_t half = c.lanes / 2 * c.lane_rows;
  Case part = c;
  part.lanes = c.lanes / 2;
  auto kernel = TestKernel::Create(Text(part), "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  auto operands = Operands(2 * half);
  Bytes whole = Run(operands, 2 * half, {0, c.rows});
  (*kernel)->row_offset = half;
  std::vector<std::vector<float>> halves;
  for (int i = 0; i < 2; ++i) {
    std::vector<td::RefTensor> mine = operands;
    for (td::RefTensor& t : mine) {
      const int64_t n = static_cast<int64_t>(t.values.size()) / 2;
      t.values = std::vector<double>(t.values.begin() + i * n, t.values.begin() + (i + 1) * n);
      t.shape[0] = half;
    }
    Bytes bytes = (*kernel)->Run(mine, half, {0, c.rows})[0];
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

// Lanes without rows are passed over: their presence in the program changes nothing.
TEST_P(WeightGradKernelTest, AbsentLanesChangeNothing) {
  const Case& c = GetParam();
  if (c.lanes == 1) return;
  Case part = c;
  part.lanes = c.lanes / 2;
  auto kernel = TestKernel::Create(Text(part), "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const int64_t batch = part.lanes * c.lane_rows;
  auto operands = Operands(batch);
  (*kernel)->row_offset = batch;
  EXPECT_TRUE(Run(operands, batch, {0, c.rows}) == (*kernel)->Run(operands, batch, {0, c.rows})[0]);
}

INSTANTIATE_TEST_SUITE_P(Sizes, WeightGradKernelTest,
                         testing::Values(Case{0, 64, 64, 4, 8}, Case{0, 13, 50, 4, 3}, Case{3, 24, 33, 8, 2},
                                         Case{0, 9, 100, 1, 16}, Case{0, 16, 32, 2, 1}, Case{0, 21, 270, 4, 3},
                                         Case{2, 16, 290, 2, 4}, Case{0, 64, 64, 4, 8, true},
                                         Case{3, 24, 33, 8, 2, true}, Case{0, 21, 270, 4, 3, true}));

}  // namespace
}  // namespace tandem
