// Filter gradients of small images against loops in double.
#include "runtime/cpu/kernels/direct_filter_grad.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/testing/library_calls.h"
#include "runtime/testing/random_floats.h"

namespace tandem {
namespace {

// Sums and the sums of magnitudes behind them.
struct Sum {
  double value = 0, magnitude = 0;
};
std::vector<Sum> Reference(const FilterGradShape& c, const std::vector<float>& x, const std::vector<float>& dy) {
  std::vector<Sum> sums(c.kernel[0] * c.kernel[1] * c.in * c.out);
  for (int64_t n = 0; n < c.images; ++n) {
    for (int64_t pixel = 0; pixel < c.out_height * c.out_width; ++pixel) {
      for (int64_t tap = 0; tap < c.kernel[0] * c.kernel[1]; ++tap) {
        const int64_t i = pixel / c.out_width * c.strides[0] + tap / c.kernel[1] - c.pad_low[0];
        const int64_t j = pixel % c.out_width * c.strides[1] + tap % c.kernel[1] - c.pad_low[1];
        if (i < 0 || j < 0 || i >= c.height || j >= c.width) continue;
        for (int64_t k = 0; k < c.in; ++k) {
          for (int64_t o = 0; o < c.out; ++o) {
            const double product = double{x[((n * c.height + i) * c.width + j) * c.in + k]} *
                                   dy[(n * c.out_height * c.out_width + pixel) * c.out + o];
            sums[(tap * c.in + k) * c.out + o].value += product;
            sums[(tap * c.in + k) * c.out + o].magnitude += std::fabs(product);
          }
        }
      }
    }
  }
  return sums;
}

class DirectFilterGradTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!UsesAvx512()) GTEST_SKIP() << "this CPU has no AVX-512: its gradients are oneDNN's";
  }
};

struct Case {
  const char* name;
  FilterGradShape convolution;
};

class DirectFilterGradSizes : public DirectFilterGradTest, public testing::WithParamInterface<Case> {};

TEST_P(DirectFilterGradSizes, EqualsLoopsInDouble) {
  const FilterGradShape& c = GetParam().convolution;
  const std::vector<float> x = RandomFloats(c.images * c.height * c.width * c.in, 1);
  const std::vector<float> dy = RandomFloats(c.images * c.out_height * c.out_width * c.out, 2);
  const std::vector<Sum> want = Reference(c, x, dy);
  std::vector<float> dw(want.size() + 1, 7);
  DirectFilterGrad(c).Run(x.data(), dy.data(), dw.data());
  EXPECT_EQ(dw.back(), 7);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(dw[i], want[i].value, 1e-6 * (1 + want[i].magnitude)) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DirectFilterGradSizes,
                         testing::Values(Case{"S0", {8, 5, 5, 64, 3, 3, 64, {3, 3}, {1, 1}, {0, 0}}},
                                         Case{"ManyPixels", {9, 6, 7, 17, 4, 5, 64, {3, 3}, {1, 1}, {0, 0}}},
                                         Case{"Padded", {3, 5, 4, 25, 5, 4, 128, {3, 3}, {1, 1}, {1, 1}}},
                                         Case{"LargeGradient", {2, 9, 10, 130, 9, 10, 128, {3, 3}, {1, 1}, {1, 1}}},
                                         Case{"Strided", {5, 9, 8, 20, 5, 4, 64, {3, 2}, {2, 2}, {1, 0}}},
                                         Case{"TapsBesidesTheImage", {2, 1, 1, 18, 1, 1, 64, {3, 3}, {1, 1}, {1, 1}}}),
                         [](const auto& info) { return info.param.name; });

TEST_F(DirectFilterGradTest, LibraryCallsTakeIt) {
  format::Conv2D conv = Conv(8, 5, 5, 32, 3, 3, 64, 1, 0, 0);
  conv.direction = format::Direction::kFilterGrad;
  format::LibraryCall call = CallOf(conv);
  EXPECT_NE(*ImplementationName(call), "direct_filter_grad");
  call.algorithm = format::Algorithm::kDirectFilterGrad;
  EXPECT_EQ(*ImplementationName(call), "direct_filter_grad");
  auto primitive = OneDnnPrimitive::Create(call, 1);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  EXPECT_EQ((*primitive)->implementation(), "direct_filter_grad");
  EXPECT_EQ((*primitive)->scratch_bytes(), 0u);
  const std::vector<float> x = RandomFloats(8 * 5 * 5 * 32, 1), dy = RandomFloats(8 * 3 * 3 * 64, 2);
  std::vector<float> dw(9 * 32 * 64), want(9 * 32 * 64);
  void* in[] = {const_cast<float*>(x.data()), const_cast<float*>(dy.data())};
  ASSERT_TRUE((*primitive)->Run(0, in, dw.data(), nullptr).ok());
  DirectFilterGrad({8, 5, 5, 32, 3, 3, 64, {3, 3}, {1, 1}, {0, 0}}).Run(x.data(), dy.data(), want.data());
  EXPECT_EQ(dw, want);
  conv.x_dtype = conv.y_dtype = DType::kBFloat16;
  EXPECT_FALSE(OneDnnPrimitive::Create(CallOf(conv, format::Algorithm::kDirectFilterGrad), 1).ok());
}

}  // namespace
}  // namespace tandem
