// Numbers in double precision that remember how they were computed, for exact derivatives of a formula as it is
// written. Scalar by scalar: nothing here knows of tensors, graphs or batches.
#ifndef TANDEM_TESTS_ORACLE_TAPE_H_
#define TANDEM_TESTS_ORACLE_TAPE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"

namespace tandem::ref {

// A number on the current tape.
struct Real {
  int32_t id = -1;
};

// What was computed since it became the current one. One at a time per thread.
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  static Tape& Current();

  // A number that depends on nothing.
  Real Number(double value);
  double value(Real x) const { return values_[x.id]; }
  // Continues the number that Append began with one more of what it depends on.
  void DependsOn(Real x, double derivative);
  Real Append(double value);
  // A sum of x[i] y[i], which is most of what there is on a tape.
  Real AppendDot(absl::Span<const Real> x, absl::Span<const Real> y);

  // d y / d x for every number x on the tape, by id: the chain rule backwards.
  std::vector<double> Gradient(Real y) const;

  // Whether a number was computed from no other.
  bool IsConstant(Real x) const;

  // Notes how far a choice (which of two is larger) is from falling the other way.
  void NoteChoice(double distance);
  // The smallest distance noted: below it, rounding cannot change a choice and the derivative is that of a smooth
  // function.
  double margin() const { return margin_; }

 private:
  int64_t LastEdge(int32_t id) const;

  std::vector<double> values_;
  std::vector<int64_t> first_edge_;  // by number: what it depends on
  std::vector<int32_t> parents_;
  std::vector<double> derivatives_;
  double margin_ = std::numeric_limits<double>::infinity();
};

Real operator+(Real x, Real y);
Real operator-(Real x, Real y);
Real operator*(Real x, Real y);
Real operator/(Real x, Real y);
Real operator+(Real x, double y);
Real operator-(Real x, double y);
Real operator*(Real x, double y);
Real operator/(Real x, double y);
Real Exp(Real x);
Real Log(Real x);
Real Sqrt(Real x);
Real Tanh(Real x);
Real Erf(Real x);
// The first where they are equal.
Real Max(Real x, Real y);
Real Min(Real x, Real y);
Real Max(Real x, double y);
Real Min(Real x, double y);
Real Sum(absl::Span<const Real> x);
// Sum of x[i] y[i].
Real Dot(absl::Span<const Real> x, absl::Span<const Real> y);

}  // namespace tandem::ref

#endif  // TANDEM_TESTS_ORACLE_TAPE_H_
