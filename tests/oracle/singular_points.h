// A table of points where formulas divide by 0, take its logarithm, overflow or saturate, with the value and the slope
// that are right there and what says so: calculus, IEEE 754, or what the field agrees on.
#ifndef TANDEM_TESTS_ORACLE_SINGULAR_POINTS_H_
#define TANDEM_TESTS_ORACLE_SINGULAR_POINTS_H_

#include <cfloat>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tandem::oracle {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
// Of float32: the largest number, the smallest normal one, and the smallest of all.
constexpr double kLargest = FLT_MAX, kSmallest = FLT_MIN, kSubnormal = FLT_TRUE_MIN;

using Numbers = std::vector<double>;

struct SingularPoint {
  std::vector<Numbers> at;  // an operand's numbers, of one example
  double value = 0;         // of the function there; beyond float32's range it is infinite
  // Of the value, by each number of an operand; empty for operands that are not differentiated, such as labels.
  std::vector<Numbers> slopes;
  std::string source;
};

struct SingularRow {
  std::string name;
  // From operands [b], or [b, n] where a point has n numbers, to [b]. All points have as many numbers.
  std::function<Tensor(const std::vector<Tensor>& operands)> function;
  std::vector<SingularPoint> points;
  // How far float32 may be off beyond 1e-5 of the number; one below the smallest normal number may be 0 in any case.
  double absolute = 0;
};

// A function of one number, and of two.
inline SingularPoint At(double x, double value, double slope, std::string source) {
  return {{{x}}, value, {{slope}}, std::move(source)};
}
inline SingularPoint At(double x, double y, double value, double by_x, double by_y, std::string source) {
  return {{{x}, {y}}, value, {{by_x}, {by_y}}, std::move(source)};
}
// A loss of labels and predictions, differentiated by the predictions.
inline SingularPoint LossAt(Numbers labels, Numbers predictions, double value, Numbers slopes, std::string source) {
  return {{std::move(labels), std::move(predictions)}, value, {{}, std::move(slopes)}, std::move(source)};
}

// Whether float32 may give `got` where `want` is right.
bool Agrees(double got, double want, double absolute);

// Computes all rows in one compiled program. Returns a line for each number that is not right.
absl::StatusOr<std::vector<std::string>> WrongNumbers(const std::vector<SingularRow>& rows);

// The rows of ops and activations, and of losses.
std::vector<SingularRow> SingularOps();
std::vector<SingularRow> SingularLosses();

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_SINGULAR_POINTS_H_
