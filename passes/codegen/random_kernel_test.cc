// Kernels of td.random_uniform give the interpreter's numbers bit for bit, however the batch is split.
#include <cmath>

#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

constexpr char kBatched[] = R"(
func.func private @u(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<?x3x7xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.random_uniform %seed, %step key -81985529216486896 shape [-1, 3, 7] -> tensor<?x3x7xf32>
  return %0 : tensor<?x3x7xf32>
})";

std::vector<td::RefTensor> Scalars(int64_t seed, int64_t step) {
  return {{DType::kInt64, {}, {static_cast<double>(seed)}}, {DType::kInt64, {}, {static_cast<double>(step)}}};
}

TEST(RandomKernelTest, MatchesReferenceExactly) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(kBatched, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    for (int64_t row_offset : {int64_t{0}, int64_t{5}, (int64_t{3} << 32) - 2}) {  // rows that carry into the high word
      (*kernel)->row_offset = row_offset;
      for (int64_t seed : {int64_t{0}, int64_t{1}, (int64_t{9} << 33) + 17}) {
        for (int64_t step : {int64_t{0}, (int64_t{1} << 32) + 3}) {
          auto error = (*kernel)->Error(Scalars(seed, step), 4);
          ASSERT_TRUE(error.ok()) << error.status();
          EXPECT_EQ(*error, 0) << target << " " << row_offset << " " << seed << " " << step;
        }
      }
    }
  }
}

TEST(RandomKernelTest, SplitsGiveTheSameBits) {
  auto kernel = TestKernel::Create(kBatched, "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  auto whole = (*kernel)->Run(Scalars(4, 2), 9, {0, 9});
  EXPECT_EQ((*kernel)->Run(Scalars(4, 2), 9, {0, 1, 5, 5, 9}), whole);
}

TEST(RandomKernelTest, StaticShapeIsRowZero) {
  auto kernel = TestKernel::Create(R"(
    func.func private @u(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<5x9xf32> attributes {exec.kernel = #exec.kernel_kind<once>} {
      %0 = td.random_uniform %seed, %step key 3 shape [5, 9] -> tensor<5x9xf32>
      return %0 : tensor<5x9xf32>
    })",
                                   "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  (*kernel)->row_offset = 6;
  auto error = (*kernel)->Error(Scalars(8, 1), 1);
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_EQ(*error, 0);
}

TEST(RandomKernelTest, LoopIsVectorised) {
  auto kernel = TestKernel::Create(kBatched, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_NE((*kernel)->llvm_ir().find("x float>"), std::string::npos) << (*kernel)->llvm_ir();
}

}  // namespace
}  // namespace tandem
