#include "passes/exec/toom_cook.h"

#include <array>
#include <numeric>

namespace tandem {

Rational::Rational(int64_t n, int64_t d) {
  int64_t common = std::gcd(n, d);
  if (common == 0) common = 1;
  if (d < 0) common = -common;
  numerator = n / common;
  denominator = d / common;
}

Rational operator+(Rational a, Rational b) {
  return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
}
Rational operator-(Rational a, Rational b) { return a + Rational(-b.numerator, b.denominator); }
Rational operator*(Rational a, Rational b) { return {a.numerator * b.numerator, a.denominator * b.denominator}; }
Rational operator/(Rational a, Rational b) { return {a.numerator * b.denominator, a.denominator * b.numerator}; }
bool operator==(Rational a, Rational b) { return a.numerator == b.numerator && a.denominator == b.denominator; }

RationalMatrix RationalMatrix::Transposed() const {
  RationalMatrix t(columns, rows);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) t.at(c, r) = at(r, c);
  }
  return t;
}

namespace {

// Returns the coefficients of the product over `roots` of (x - root), constant term first, without root number `skip`.
std::vector<Rational> Polynomial(const std::vector<Rational>& roots, int skip) {
  std::vector<Rational> p = {1};
  for (int i = 0; i < static_cast<int>(roots.size()); ++i) {
    if (i == skip) continue;
    std::vector<Rational> next(p.size() + 1);
    for (size_t k = 0; k < p.size(); ++k) {
      next[k + 1] = next[k + 1] + p[k];
      next[k] = next[k] - roots[i] * p[k];
    }
    p = std::move(next);
  }
  return p;
}

// Row i of the matrices belongs to point i, the last row to infinity. The denominators of the interpolation are in the
// kernel's matrix, which is applied once per step instead of once per tile.
WinogradMatrices Make(int tile, const std::vector<Rational>& points) {
  const int alpha = tile + 2, last = alpha - 1;
  WinogradMatrices w{tile, alpha, RationalMatrix(alpha, alpha), RationalMatrix(alpha, 3), RationalMatrix(tile, alpha)};
  for (int i = 0; i < last; ++i) {
    std::vector<Rational> p = Polynomial(points, i);
    for (int k = 0; k < last; ++k) w.input.at(i, k) = p[k];
    Rational scale = 1;
    for (int j = 0; j < last; ++j) {
      if (j != i) scale = scale * (points[i] - points[j]);
    }
    Rational power = 1;
    for (int k = 0; k < 3 || k < tile; ++k) {
      if (k < 3) w.kernel.at(i, k) = power / scale;
      if (k < tile) w.output.at(k, i) = power;
      power = power * points[i];
    }
  }
  std::vector<Rational> p = Polynomial(points, -1);
  for (int k = 0; k < alpha; ++k) w.input.at(last, k) = p[k];
  w.kernel.at(last, 2) = 1;
  w.output.at(tile - 1, last) = 1;
  return w;
}

}  // namespace

const WinogradMatrices& GetWinogradMatrices(int tile) {
  static const auto& all = *new std::array<WinogradMatrices, 3>{
      Make(2, {0, 1, -1}), Make(3, {{1, 2}, {-1, 2}, {5, 4}, {-5, 4}}), Make(4, {0, {2, 3}, {-2, 3}, {3, 2}, {-3, 2}})};
  return all[tile - 2];
}

}  // namespace tandem
