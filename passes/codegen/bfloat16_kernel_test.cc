// Kernels on bfloat16 buffers: the same numbers as the reference, which rounds every bfloat16 result, with the CPU's
// conversion and with integer arithmetic.
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

// "native-bf16" takes the conversion of this machine, if there is one.
const char* const kTargets[] = {"native", "native-bf16", "gpu"};

TEST(BFloat16KernelTest, RoundsToNearestEvenInEveryPosition) {
  const std::string text = R"(
    func.func private @k(%x: tensor<?xf32>) -> tensor<?xbf16> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.cast %x : tensor<?xf32> -> tensor<?xbf16>
      return %0 : tensor<?xbf16>
    })";
  std::vector<double> values;
  for (uint32_t upper : {0x3f80u, 0x3f81u, 0xc049u, 0x7f7fu, 0x0080u, 0x8000u, 0x7f80u, 0xff80u}) {
    for (uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      uint32_t bits = upper << 16 | ((upper & 0x7f80u) == 0x7f80u || upper == 0x8000u ? 0 : lower);
      float x;
      std::memcpy(&x, &bits, sizeof x);
      values.push_back(x);
    }
  }
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  const auto n = static_cast<int64_t>(values.size());
  for (const char* target : kTargets) {
    auto kernel = TestKernel::Create(text, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    // One call over all elements runs vectors, calls of one element the scalar code.
    std::vector<int64_t> one_by_one;
    for (int64_t i = 0; i <= n; ++i) one_by_one.push_back(i);
    for (const auto& splits : {std::vector<int64_t>{0, n}, one_by_one}) {
      std::vector<Bytes> got = (*kernel)->Run({{DType::kFloat32, {n}, values}}, n, splits);
      for (int64_t i = 0; i < n; ++i) {
        uint16_t bits;
        std::memcpy(&bits, &got[0][2 * i], sizeof bits);
        if (std::isnan(values[i])) {
          EXPECT_TRUE(std::isnan(FromBFloat16Bits(bits)));
        } else {
          EXPECT_EQ(bits, ToBFloat16Bits(static_cast<float>(values[i]))) << target << " " << values[i];
        }
      }
    }
  }
}

struct Case {
  const char* name;
  const char* text;
};

const Case kCases[] = {
    {"elementwise", R"(
    func.func private @k(%x: tensor<?x37xbf16>, %y: tensor<?x37xbf16>) -> (tensor<?x37xbf16>, tensor<?x37xf32>)
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.mul %x, %y : tensor<?x37xbf16>
      %1 = td.add %0, %y : tensor<?x37xbf16>
      %2 = td.relu %1 : tensor<?x37xbf16>
      %3 = td.cast %1 : tensor<?x37xbf16> -> tensor<?x37xf32>
      return %2, %3 : tensor<?x37xbf16>, tensor<?x37xf32>
    })"},
    {"relu_gradient", R"(
    func.func private @k(%y: tensor<?x37xbf16>, %dy: tensor<?x37xbf16>) -> tensor<?x37xbf16>
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %c = td.constant dense<0.0> : tensor<bf16>
      %z = td.broadcast %c dims [] : tensor<bf16> -> tensor<?x37xbf16>
      %m = td.compare gt, %y, %z : tensor<?x37xbf16> -> tensor<?x37xi1>
      %0 = td.select %m, %dy, %z : tensor<?x37xi1>, tensor<?x37xbf16>
      return %0 : tensor<?x37xbf16>
    })"},
    {"bias_gradient", R"(
    func.func private @k(%dy: tensor<?x6x32xbf16>) -> tensor<32xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
      %0 = td.cast %dy : tensor<?x6x32xbf16> -> tensor<?x6x32xf32>
      %1 = td.reduce sum, %0 axes [0, 1] : tensor<?x6x32xf32> -> tensor<32xf32>
      return %1 : tensor<32xf32>
    })"},
    {"softmax", R"(
    func.func private @k(%x: tensor<?x100xbf16>) -> tensor<?x100xbf16> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %0 = td.cast %x : tensor<?x100xbf16> -> tensor<?x100xf32>
      %1 = td.exp %0 : tensor<?x100xf32>
      %2 = td.reduce sum, %1 axes [1] : tensor<?x100xf32> -> tensor<?xf32>
      %3 = td.broadcast %2 dims [0] : tensor<?xf32> -> tensor<?x100xf32>
      %4 = td.div %1, %3 : tensor<?x100xf32>
      %5 = td.cast %4 : tensor<?x100xf32> -> tensor<?x100xbf16>
      return %5 : tensor<?x100xbf16>
    })"},
    {"max_pool", R"(
    func.func private @k(%x: tensor<?x6x6x19xbf16>) -> tensor<?x3x3x19xbf16> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x19xbf16> -> tensor<?x3x3x19xbf16>
      return %0 : tensor<?x3x3x19xbf16>
    })"},
    {"max_pool_grad", R"(
    func.func private @k(%x: tensor<?x6x6x19xbf16>, %dy: tensor<?x3x3x19xbf16>) -> tensor<?x6x6x19xbf16>
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x19xbf16>, tensor<?x3x3x19xbf16> -> tensor<?x6x6x19xbf16>
      return %0 : tensor<?x6x6x19xbf16>
    })"},
    {"row_max", R"(
    func.func private @k(%x: tensor<?x33xbf16>) -> tensor<?xbf16> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %0 = td.reduce max, %x axes [1] : tensor<?x33xbf16> -> tensor<?xbf16>
      return %0 : tensor<?xbf16>
    })"},
};

class BFloat16KernelsTest : public testing::TestWithParam<Case> {};

TEST_P(BFloat16KernelsTest, MatchesReference) {
  for (const char* target : kTargets) {
    auto kernel = TestKernel::Create(GetParam().text, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(3);
    for (int64_t batch : {1, 5, 16}) {
      std::vector<td::RefTensor> operands = (*kernel)->RandomOperands(batch, random);
      auto error = (*kernel)->Error(operands, batch);
      ASSERT_TRUE(error.ok()) << error.status();
      // A float32 sum that differs in its last bit may round to the neighbour: at most 2^-8.
      EXPECT_LT(*error, 1.0 / 256 + 1e-6) << target;
      // Any split gives the same bits.
      EXPECT_EQ((*kernel)->Run(operands, batch, {0, batch}), (*kernel)->Run(operands, batch, {0, batch}));
    }
  }
}

TEST(BFloat16KernelTest, ExactOpsGiveExactNumbers) {
  for (const char* target : kTargets) {
    for (const Case& c : kCases) {
      std::string name = c.name;
      if (name != "elementwise" && name != "relu_gradient" && name != "max_pool" && name != "row_max") continue;
      auto kernel = TestKernel::Create(c.text, target);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      std::mt19937 random(4);
      auto error = (*kernel)->Error((*kernel)->RandomOperands(9, random), 9);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_EQ(*error, 0) << name << " " << target;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, BFloat16KernelsTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem
