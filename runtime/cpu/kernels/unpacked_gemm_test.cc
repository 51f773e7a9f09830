// Products against loops in double, and their promise that a row's bits do not depend on its neighbours.
#include "runtime/cpu/kernels/unpacked_gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

void Multiply(const UnpackedGemm& p, const float* x, const float* w, const float* bias, float* y) {
  const int64_t n = UnpackedGemmScratch(p);
  std::vector<float> scratch(n + 1, 9);
  RunUnpackedGemm(p, x, w, bias, y, scratch.data());
  EXPECT_EQ(scratch[n], 9);
}

class UnpackedGemmTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!UsesAvx512()) GTEST_SKIP() << "this CPU has no AVX-512: its products are oneDNN's";
  }
};

void ExpectProduct(const UnpackedGemm& p, bool with_bias) {
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.depth << " x " << p.columns << (p.transposed ? " t" : "")
                                  << (p.relu ? " relu" : "") << (with_bias ? " bias" : ""));
  std::vector<float> x = RandomFloats(p.rows * p.depth, 1), w = RandomFloats(p.depth * p.columns, 2),
                     bias = RandomFloats(p.columns, 3);
  std::vector<float> y(p.rows * p.columns + 1, 7);
  Multiply(p, x.data(), w.data(), with_bias ? bias.data() : nullptr, y.data());
  EXPECT_EQ(y.back(), 7);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < p.columns; ++c) {
      double want = with_bias ? bias[c] : 0, magnitude = 1;
      for (int64_t k = 0; k < p.depth; ++k) {
        const double product = double{x[r * p.depth + k]} * w[p.transposed ? c * p.depth + k : k * p.columns + c];
        want += product;
        magnitude += std::fabs(product);
      }
      if (p.relu && want < 0) want = 0;
      ASSERT_NEAR(y[r * p.columns + c], want, 1e-6 * magnitude) << "row " << r << ", column " << c;
    }
  }
}

TEST_F(UnpackedGemmTest, EqualsLoopsInDouble) {
  for (int64_t rows : {1, 4, 7, 9, 13, 22, 32}) {
    for (int64_t vectors : {1, 2, 3, 4, 5, 7}) {  // of 16 columns
      for (int64_t depth : {1, 37}) ExpectProduct({rows, depth, 16 * vectors, false, rows % 2 == 1}, vectors > 2);
    }
    for (int64_t columns : {1, 3, 4, 6, 9, 17}) {
      for (int64_t depth : {16, 80}) ExpectProduct({rows, depth, columns, true, rows % 2 == 1}, columns > 3);
    }
  }
}

// The matrix is gone through in several blocks of rows.
TEST_F(UnpackedGemmTest, EqualsLoopsInDoubleForLongSums) {
  ExpectProduct({13, 150, 1040, false, true}, true);
  ExpectProduct({5, 33, 8192, false, false}, false);
  ExpectProduct({13, 1040, 34, true, true}, true);
}

TEST_F(UnpackedGemmTest, ARowsBitsDoNotDependOnTheOthers) {
  for (bool transposed : {false, true}) {
    UnpackedGemm p{19, 1024, 1040, transposed, false};
    std::vector<float> x = RandomFloats(p.rows * p.depth, 1), w = RandomFloats(p.depth * p.columns, 2);
    std::vector<float> together(p.rows * p.columns), alone(p.rows * p.columns);
    Multiply(p, x.data(), w.data(), nullptr, together.data());
    for (int64_t begin = 0, n = 1; begin < p.rows; begin += n, n = std::min(2 * n, p.rows - begin)) {
      UnpackedGemm part = p;
      part.rows = n;
      Multiply(part, x.data() + begin * p.depth, w.data(), nullptr, alone.data() + begin * p.columns);
    }
    EXPECT_EQ(together, alone) << (transposed ? "transposed" : "plain");
  }
}

TEST_F(UnpackedGemmTest, ReluKeepsNaN) {
  for (bool transposed : {false, true}) {
    UnpackedGemm p{4, 16, 16, transposed, true};
    std::vector<float> x(p.rows * p.depth, 1), w(p.depth * p.columns, -1), y(p.rows * p.columns, 7);
    x[2 * p.depth] = std::numeric_limits<float>::quiet_NaN();
    Multiply(p, x.data(), w.data(), nullptr, y.data());
    for (int64_t i = 0; i < p.rows * p.columns; ++i) {
      if (i / p.columns == 2) {
        EXPECT_TRUE(std::isnan(y[i])) << i;
      } else {
        EXPECT_EQ(y[i], 0) << i;
      }
    }
  }
}

// A library call reads plain weights where it says so, and packed ones otherwise.
TEST_F(UnpackedGemmTest, LibraryCallsTakeIt) {
  format::MatMul product;
  product.a_shape = {2, 4, 512};  // all but the last are rows
  product.b_shape = {512, 528};
  product.y_shape = {2, 4, 528};
  product.epilogue = {.bias = true, .activation = format::Activation::kRelu};
  format::LibraryCall call = CallOf(product);
  EXPECT_NE(*ImplementationName(call), "unpacked_gemm");
  call.algorithm = format::Algorithm::kUnpackedGemm;
  EXPECT_EQ(*ImplementationName(call), "unpacked_gemm");
  auto primitive = OneDnnPrimitive::Create(call, 1);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  std::vector<float> x = RandomFloats(8 * 512, 1), w = RandomFloats(512 * 528, 2), bias = RandomFloats(528, 3);
  std::vector<float> y(8 * 528), want(8 * 528), scratch((*primitive)->scratch_bytes() / sizeof(float));
  void* in[] = {x.data(), w.data(), bias.data()};
  ASSERT_TRUE((*primitive)->Run(0, in, y.data(), scratch.data()).ok());
  Multiply({8, 512, 528, false, true}, x.data(), w.data(), bias.data(), want.data());
  EXPECT_EQ(y, want);
  product.packed = true;
  EXPECT_FALSE(OneDnnPrimitive::Create(CallOf(product, format::Algorithm::kUnpackedGemm), 1).ok());
  product.packed = false;
  product.a_dtype = product.b_dtype = DType::kBFloat16;
  EXPECT_FALSE(OneDnnPrimitive::Create(CallOf(product, format::Algorithm::kUnpackedGemm), 1).ok());
}

}  // namespace
}  // namespace tandem
