#include "tests/oracle/tape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::ref {
namespace {

thread_local Tape* current = nullptr;

Tape& T() { return *current; }

Real Unary(Real x, double value, double derivative) {
  Real y = T().Append(value);
  T().DependsOn(x, derivative);
  return y;
}

Real Binary(Real a, Real b, double value, double da, double db) {
  Real y = T().Append(value);
  T().DependsOn(a, da);
  T().DependsOn(b, db);
  return y;
}

double V(Real x) { return T().value(x); }

// Between equal constants (what two relus leave of negative numbers) there is nothing to choose.
void NoteChoice(Real x, Real y) {
  if (V(x) == V(y) && T().IsConstant(x) && T().IsConstant(y)) return;
  T().NoteChoice(V(x) - V(y));
}

}  // namespace

Tape::Tape() { current = this; }
Tape::~Tape() { current = nullptr; }
Tape& Tape::Current() { return *current; }

Real Tape::Append(double value) {
  values_.push_back(value);
  first_edge_.push_back(static_cast<int64_t>(parents_.size()));
  return {static_cast<int32_t>(values_.size()) - 1};
}

Real Tape::Number(double value) { return Append(value); }

void Tape::DependsOn(Real x, double derivative) {
  parents_.push_back(x.id);
  derivatives_.push_back(derivative);
}

Real Tape::AppendDot(absl::Span<const Real> x, absl::Span<const Real> y) {
  const Real dot = Append(0);
  const size_t n = x.size(), first = parents_.size();
  parents_.resize(first + 2 * n);
  derivatives_.resize(first + 2 * n);
  int32_t* parents = parents_.data() + first;
  double* derivatives = derivatives_.data() + first;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double a = values_[x[i].id], b = values_[y[i].id];
    sum += a * b;
    parents[2 * i] = x[i].id;
    parents[2 * i + 1] = y[i].id;
    derivatives[2 * i] = b;
    derivatives[2 * i + 1] = a;
  }
  values_[dot.id] = sum;
  return dot;
}

int64_t Tape::LastEdge(int32_t id) const {
  return id + 1 < static_cast<int32_t>(values_.size()) ? first_edge_[id + 1] : static_cast<int64_t>(parents_.size());
}

bool Tape::IsConstant(Real x) const { return first_edge_[x.id] == LastEdge(x.id); }

std::vector<double> Tape::Gradient(Real y) const {
  std::vector<double> gradient(values_.size(), 0.0);
  gradient[y.id] = 1;
  for (int32_t i = y.id; i >= 0; --i) {
    if (gradient[i] == 0) continue;
    for (int64_t e = first_edge_[i]; e < LastEdge(i); ++e) gradient[parents_[e]] += gradient[i] * derivatives_[e];
  }
  return gradient;
}

void Tape::NoteChoice(double distance) { margin_ = std::min(margin_, std::abs(distance)); }

Real operator+(Real x, Real y) { return Binary(x, y, V(x) + V(y), 1, 1); }
Real operator-(Real x, Real y) { return Binary(x, y, V(x) - V(y), 1, -1); }
Real operator*(Real x, Real y) { return Binary(x, y, V(x) * V(y), V(y), V(x)); }
Real operator/(Real x, Real y) { return Binary(x, y, V(x) / V(y), 1 / V(y), -V(x) / (V(y) * V(y))); }
Real operator+(Real x, double y) { return Unary(x, V(x) + y, 1); }
Real operator-(Real x, double y) { return Unary(x, V(x) - y, 1); }
Real operator*(Real x, double y) { return Unary(x, V(x) * y, y); }
Real operator/(Real x, double y) { return Unary(x, V(x) / y, 1 / y); }
Real Exp(Real x) { return Unary(x, std::exp(V(x)), std::exp(V(x))); }
Real Log(Real x) { return Unary(x, std::log(V(x)), 1 / V(x)); }
Real Sqrt(Real x) { return Unary(x, std::sqrt(V(x)), 0.5 / std::sqrt(V(x))); }
Real Tanh(Real x) { return Unary(x, std::tanh(V(x)), 1 - std::tanh(V(x)) * std::tanh(V(x))); }
Real Erf(Real x) { return Unary(x, std::erf(V(x)), 2 * std::numbers::inv_sqrtpi * std::exp(-V(x) * V(x))); }

Real Max(Real x, Real y) {
  NoteChoice(x, y);
  return V(x) >= V(y) ? x : y;
}

Real Min(Real x, Real y) {
  NoteChoice(x, y);
  return V(x) <= V(y) ? x : y;
}

Real Max(Real x, double y) { return Max(x, T().Number(y)); }
Real Min(Real x, double y) { return Min(x, T().Number(y)); }

Real Sum(absl::Span<const Real> x) {
  double sum = 0;
  for (Real r : x) sum += V(r);
  Real y = T().Append(sum);
  for (Real r : x) T().DependsOn(r, 1);
  return y;
}

Real Dot(absl::Span<const Real> x, absl::Span<const Real> y) { return T().AppendDot(x, y); }

}  // namespace tandem::ref
