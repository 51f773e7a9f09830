// Kernels of pooling against the reference semantics of their ops.
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

struct Case {
  std::string name;
  int64_t in[2], out[2];
  std::string window;  // the attributes of the op
};

std::string Image(const int64_t size[2], int64_t channels) {
  return absl::StrCat("tensor<?x", size[0], "x", size[1], "x", channels, "xf32>");
}

std::string Places(const int64_t size[2], int64_t channels) {
  return absl::StrCat("tensor<?x", size[0], "x", size[1], "x", channels, "xui8>");
}

std::string KernelText(const std::string& op, const Case& c, int64_t channels = 19) {
  std::string x = Image(c.in, channels), y = Image(c.out, channels), places = Places(c.out, channels);
  if (op == "max_pool_argmax" || op == "max_pool_argmax_positive") {
    const char* flag = op == "max_pool_argmax" ? "" : " {positive = true}";
    return absl::StrCat("func.func private @k(%x: ", x, ") -> ", places,
                        " attributes {exec.kernel = #exec.kernel_kind<loop>} { %0 = td.max_pool_argmax %x ", c.window,
                        flag, " : ", x, " -> ", places, " return %0 : ", places, " }");
  }
  if (op == "max_pool_argmax_grad") {
    return absl::StrCat(
        "func.func private @k(%k: ", places, ", %dy: ", y, ") -> ", x,
        " attributes {exec.kernel = #exec.kernel_kind<loop>} { %0 = td.max_pool_argmax_grad %k, %dy size [", c.in[0],
        ", ", c.in[1], "] ", c.window, " : ", places, ", ", y, " -> ", x, " return %0 : ", x, " }");
  }
  if (op == "max_pool_grad") {
    return absl::StrCat("func.func private @k(%x: ", x, ", %dy: ", y, ") -> ", x,
                        " attributes {exec.kernel = #exec.kernel_kind<loop>} { %0 = td.max_pool_grad %x, %dy ",
                        c.window, " : ", x, ", ", y, " -> ", x, " return %0 : ", x, " }");
  }
  if (op == "avg_pool_grad") {
    return absl::StrCat("func.func private @k(%dy: ", y, ") -> ", x,
                        " attributes {exec.kernel = #exec.kernel_kind<loop>} { %0 = td.avg_pool_grad %dy size [",
                        c.in[0], ", ", c.in[1], "] ", c.window, " : ", y, " -> ", x, " return %0 : ", x, " }");
  }
  return absl::StrCat("func.func private @k(%x: ", x, ") -> ", y,
                      " attributes {exec.kernel = #exec.kernel_kind<loop>} { %0 = td.", op, " %x ", c.window, " : ", x,
                      " -> ", y, " return %0 : ", y, " }");
}

class WindowKernelTest : public testing::TestWithParam<std::tuple<std::string, Case>> {};

TEST_P(WindowKernelTest, MatchesReference) {
  const auto& [op, c] = GetParam();
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(KernelText(op, c), target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(7);
    for (int64_t batch : {1, 3}) {
      std::vector<td::RefTensor> operands = (*kernel)->RandomOperands(batch, random);
      for (bool ties : {false, true}) {
        if (ties && op != "avg_pool_grad" &&
            op != "max_pool_argmax_grad") {  // few different values, so that windows have several maxima
          for (double& v : operands[0].values) v = std::nearbyint(v);
        }
        auto error = (*kernel)->Error(operands, batch);
        ASSERT_TRUE(error.ok()) << error.status();
        EXPECT_LE(*error, op == "max_pool" || op == "max_pool_argmax" ? 0 : 1e-6)
            << target << " " << batch << (ties ? " with ties" : "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pools, WindowKernelTest,
    testing::Combine(
        testing::Values("max_pool", "max_pool_grad", "max_pool_argmax", "max_pool_argmax_positive",
                        "max_pool_argmax_grad", "avg_pool", "avg_pool_grad"),
        testing::Values(Case{"Tiling", {6, 8}, {3, 4}, "window [2, 2] strides [2, 2] low [0, 0] high [0, 0]"},
                        Case{"Remainder", {7, 9}, {3, 4}, "window [2, 2] strides [2, 2] low [0, 0] high [0, 0]"},
                        Case{"Gaps", {7, 8}, {3, 2}, "window [1, 2] strides [3, 4] low [0, 0] high [0, 0]"},
                        Case{"Overlap", {7, 6}, {3, 4}, "window [3, 3] strides [2, 1] low [0, 0] high [0, 0]"},
                        Case{"Padded", {7, 6}, {4, 3}, "window [3, 3] strides [2, 2] low [1, 0] high [1, 1]"},
                        Case{"Same1", {5, 4}, {5, 4}, "window [3, 2] strides [1, 1] low [1, 0] high [1, 1]"},
                        Case{"Global", {4, 3}, {1, 1}, "window [4, 3] strides [1, 1] low [0, 0] high [0, 0]"})),
    [](const auto& info) { return absl::StrCat(std::get<0>(info.param), std::get<1>(info.param).name); });

const Case kTwo = {"Two", {2, 2}, {1, 1}, "window [2, 2] strides [2, 2] low [0, 0] high [0, 0]"};

TEST(MaxPoolKernelTest, NaNPropagates) {
  for (int place : {0, 1, 2, 3}) {
    auto kernel = TestKernel::Create(KernelText("max_pool", kTwo, 1), "native");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    td::RefTensor x{DType::kFloat32, {1, 2, 2, 1}, {1, 2, 3, 4}};
    x.values[place] = std::numeric_limits<double>::quiet_NaN();
    auto result = (*kernel)->Run({x}, 1, {0, 1});
    float y;
    std::memcpy(&y, result[0].data(), sizeof(y));
    EXPECT_TRUE(std::isnan(y)) << place;
  }
}

TEST(MaxPoolKernelTest, PaddingNeitherWinsNorTakesTheGradient) {
  const Case padded = {"Padded", {1, 1}, {1, 1}, "window [2, 2] strides [2, 2] low [1, 1] high [0, 0]"};
  const double infinity = std::numeric_limits<double>::infinity();
  for (double v : {-3.0, -infinity}) {
    td::RefTensor x{DType::kFloat32, {1, 1, 1, 1}, {v}}, dy{DType::kFloat32, {1, 1, 1, 1}, {5}};
    auto forward = TestKernel::Create(KernelText("max_pool", padded, 1), "native");
    auto backward = TestKernel::Create(KernelText("max_pool_grad", padded, 1), "native");
    ASSERT_TRUE(forward.ok() && backward.ok()) << forward.status() << backward.status();
    float y, dx;
    std::memcpy(&y, (*forward)->Run({x}, 1, {0, 1})[0].data(), sizeof(y));
    std::memcpy(&dx, (*backward)->Run({x, dy}, 1, {0, 1})[0].data(), sizeof(dx));
    EXPECT_EQ(y, v);
    EXPECT_EQ(dx, 5) << v;
  }
}

// The gradient from the places is the gradient from the image, with ties, NaN and infinities.
TEST(MaxPoolKernelTest, PlacesStandForTheImage) {
  const Case padded = {"Padded", {7, 6}, {4, 3}, "window [3, 3] strides [2, 2] low [1, 0] high [1, 1]"};
  const double infinity = std::numeric_limits<double>::infinity();
  auto places = TestKernel::Create(KernelText("max_pool_argmax", padded, 3), "native");
  auto from_places = TestKernel::Create(KernelText("max_pool_argmax_grad", padded, 3), "native");
  auto from_image = TestKernel::Create(KernelText("max_pool_grad", padded, 3), "native");
  ASSERT_TRUE(places.ok() && from_places.ok() && from_image.ok()) << places.status() << from_places.status();
  std::mt19937 random(5);
  std::vector<td::RefTensor> operands = (*from_image)->RandomOperands(2, random);
  for (double& v : operands[0].values) v = std::nearbyint(v);
  for (int i = 0; i < 30; ++i) operands[0].values[random() % operands[0].values.size()] = -infinity;
  for (int i = 0; i < 9; ++i) operands[0].values[random() % operands[0].values.size()] = std::nan("");
  std::vector<Bytes> k = (*places)->Run({operands[0]}, 2, {0, 2});
  td::RefTensor argmax{DType::kUInt8, operands[1].shape, {}};
  for (char byte : k[0]) argmax.values.push_back(static_cast<uint8_t>(byte));
  EXPECT_EQ((*from_places)->Run({argmax, operands[1]}, 2, {0, 2}), (*from_image)->Run(operands, 2, {0, 2}));
}

TEST(WindowKernelTest, LoopsOverChannelsAreVectors) {
  const Case tiling = {"", {24, 24}, {12, 12}, "window [2, 2] strides [2, 2] low [0, 0] high [0, 0]"};
  for (std::string op :
       {"max_pool", "max_pool_grad", "max_pool_argmax_positive", "max_pool_argmax_grad", "avg_pool", "avg_pool_grad"}) {
    auto kernel = TestKernel::Create(KernelText(op, tiling, 32), "x86-64-v4");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_NE((*kernel)->llvm_ir().find("<16 x float>"), std::string::npos) << op << (*kernel)->llvm_ir();
    EXPECT_EQ((*kernel)->llvm_ir().find("gather"), std::string::npos) << op << (*kernel)->llvm_ir();
  }
}

}  // namespace
}  // namespace tandem
