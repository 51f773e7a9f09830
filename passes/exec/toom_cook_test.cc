// The transform matrices against exact convolutions of integers.
#include "passes/exec/toom_cook.h"

#include <random>

#include "gtest/gtest.h"

namespace tandem {
namespace {

RationalMatrix Product(const RationalMatrix& a, const RationalMatrix& b) {
  RationalMatrix c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      for (int k = 0; k < a.columns; ++k) c.at(i, j) = c.at(i, j) + a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

RationalMatrix OnBothSides(const RationalMatrix& m, const RationalMatrix& x) {
  return Product(Product(m, x), m.Transposed());
}

RationalMatrix Times(const RationalMatrix& a, const RationalMatrix& b) {
  RationalMatrix c = a;
  for (size_t i = 0; i < c.elements.size(); ++i) c.elements[i] = a.elements[i] * b.elements[i];
  return c;
}

RationalMatrix RandomMatrix(int rows, int columns, std::mt19937& random) {
  RationalMatrix m(rows, columns);
  for (Rational& e : m.elements) e = static_cast<int64_t>(random() % 7) - 3;
  return m;
}

class ToomCookTest : public testing::TestWithParam<int> {};

TEST_P(ToomCookTest, OutputAndGradientsAreExact) {
  const int m = GetParam();
  const WinogradMatrices& w = GetWinogradMatrices(m);
  ASSERT_EQ(w.tile, m);
  ASSERT_EQ(w.alpha, m + 2);
  std::mt19937 random(m);
  const RationalMatrix d = RandomMatrix(m + 2, m + 2, random), g = RandomMatrix(3, 3, random);
  const RationalMatrix dy = RandomMatrix(m, m, random);
  RationalMatrix y(m, m), dd(m + 2, m + 2), dg(3, 3);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q) {
          y.at(i, j) = y.at(i, j) + g.at(p, q) * d.at(i + p, j + q);
          dd.at(i + p, j + q) = dd.at(i + p, j + q) + g.at(p, q) * dy.at(i, j);
          dg.at(p, q) = dg.at(p, q) + d.at(i + p, j + q) * dy.at(i, j);
        }
      }
    }
  }
  const RationalMatrix u = OnBothSides(w.kernel, g), v = OnBothSides(w.input, d);
  const RationalMatrix e = OnBothSides(w.output.Transposed(), dy);
  EXPECT_TRUE(OnBothSides(w.output, Times(u, v)).elements == y.elements);
  EXPECT_TRUE(OnBothSides(w.input.Transposed(), Times(u, e)).elements == dd.elements);
  EXPECT_TRUE(OnBothSides(w.kernel.Transposed(), Times(v, e)).elements == dg.elements);
}

INSTANTIATE_TEST_SUITE_P(Tiles, ToomCookTest, testing::Values(2, 3, 4));

TEST(RationalTest, LowestTerms) {
  EXPECT_TRUE(Rational(6, -4) == Rational(-3, 2));
  EXPECT_TRUE(Rational(0, 5) == Rational(0));
  EXPECT_EQ(Rational(-3, 2).value(), -1.5);
}

}  // namespace
}  // namespace tandem
