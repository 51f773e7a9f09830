// The transform matrices of Winograd convolutions F(m x m, 3 x 3), exact: Toom-Cook interpolation (S. Winograd,
// "Arithmetic Complexity of Computations", 1980; A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", arXiv:1509.09308). Free of MLIR types.
#ifndef TANDEM_PASSES_EXEC_TOOM_COOK_H_
#define TANDEM_PASSES_EXEC_TOOM_COOK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

// A fraction in lowest terms with a positive denominator. The matrices below stay far from the limits of int64.
struct Rational {
  int64_t numerator = 0, denominator = 1;

  Rational() = default;
  Rational(int64_t n, int64_t d = 1);
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  friend Rational operator+(Rational a, Rational b);
  friend Rational operator-(Rational a, Rational b);
  friend Rational operator*(Rational a, Rational b);
  friend Rational operator/(Rational a, Rational b);  // b is not 0
  friend bool operator==(Rational a, Rational b);
};

struct RationalMatrix {
  int rows = 0, columns = 0;
  std::vector<Rational> elements;  // row-major

  RationalMatrix(int r, int c) : rows(r), columns(c), elements(static_cast<size_t>(r) * c) {}
  Rational& at(int r, int c) { return elements[static_cast<size_t>(r) * columns + c]; }
  const Rational& at(int r, int c) const { return elements[static_cast<size_t>(r) * columns + c]; }
  RationalMatrix Transposed() const;
};

// With a = m + 2, an output tile of m x m comes from an input tile d of a x a and a kernel g of 3 x 3 as
//   Y = output [ (kernel g kernel^T) .* (input d input^T) ] output^T.
// It is linear in d and in g, so gradients use the same matrices transposed:
//   dd = input^T [ U .* (output^T dY output) ] input,   dg = kernel^T [ V .* (output^T dY output) ] kernel
// with U = kernel g kernel^T and V = input d input^T.
struct WinogradMatrices {
  int tile = 0;           // m, the side of an output tile
  int alpha = 0;          // a = m + 2, the side of an input tile
  RationalMatrix input;   // a x a; B^T in the papers
  RationalMatrix kernel;  // a x 3; G in the papers
  RationalMatrix output;  // m x a; A^T in the papers
};

// `tile` is 2, 3 or 4. The points are 0, +-1 for 2; +-1/2, +-5/4 for 3; 0, +-2/3, +-3/2 for 4, and infinity: pairs
// of opposite sign halve the multiplications, and points near 1 keep the error down (docs/developers/winograd.md).
const WinogradMatrices& GetWinogradMatrices(int tile);

}  // namespace tandem

#endif  // TANDEM_PASSES_EXEC_TOOM_COOK_H_
