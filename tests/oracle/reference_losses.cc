#include "tests/oracle/reference_losses.h"

#include <cmath>

#include "absl/types/span.h"

namespace tandem::ref {
namespace {

double V(Real x) { return Tape::Current().value(x); }

absl::Span<const Real> Row(const Array& x, int64_t row) {
  return absl::MakeConstSpan(x.values).subspan(row * x.last(), x.last());
}

// - sum over classes of the smoothed label times log p.
Real CrossEntropy(absl::Span<const Real> labels, const std::vector<Real>& log_p, double smoothing) {
  const double classes = static_cast<double>(labels.size());
  std::vector<Real> smoothed;
  for (Real label : labels) smoothed.push_back(label * (1 - smoothing) + smoothing / classes);
  return Dot(smoothed, log_p) * -1;
}

}  // namespace

std::vector<Real> SparseSoftmaxCrossEntropy(const std::vector<int64_t>& labels, const Array& logits) {
  const Array log_p = LogSoftmax(logits);
  std::vector<Real> losses;
  for (int64_t r = 0; r < logits.rows(); ++r) losses.push_back(Row(log_p, r)[labels[r]] * -1);
  return losses;
}

std::vector<Real> SoftmaxCrossEntropy(const Array& labels, const Array& logits, double smoothing) {
  const Array log_p = LogSoftmax(logits);
  std::vector<Real> losses;
  for (int64_t r = 0; r < logits.rows(); ++r) {
    const absl::Span<const Real> row = Row(log_p, r);
    losses.push_back(CrossEntropy(Row(labels, r), {row.begin(), row.end()}, smoothing));
  }
  return losses;
}

std::vector<Real> CategoricalCrossEntropy(const Array& labels, const Array& probabilities, double smoothing) {
  std::vector<Real> losses;
  for (int64_t r = 0; r < probabilities.rows(); ++r) {
    const Real sum = Sum(Row(probabilities, r));
    std::vector<Real> log_p;
    for (Real p : Row(probabilities, r)) log_p.push_back(Log(Min(Max(p / sum, 1e-7), 1 - 1e-7)));
    losses.push_back(CrossEntropy(Row(labels, r), log_p, smoothing));
  }
  return losses;
}

std::vector<Real> SquaredErrors(const Array& labels, const Array& predictions) {
  std::vector<Real> squares;
  for (size_t i = 0; i < predictions.values.size(); ++i) {
    const Real error = predictions.values[i] - labels.values[i];
    squares.push_back(error * error);
  }
  if (predictions.shape.size() < 2) return squares;
  std::vector<Real> means;
  for (size_t i = 0; i < squares.size(); i += predictions.last()) {
    means.push_back(Sum(absl::MakeConstSpan(squares).subspan(i, predictions.last())) /
                    static_cast<double>(predictions.last()));
  }
  return means;
}

std::vector<Real> MeanOfRows(const Array& labels, const Array& predictions, const std::function<Real(Real, Real)>& f) {
  const Array terms = Map(labels, predictions, f);
  std::vector<Real> means;
  for (int64_t r = 0; r < terms.rows(); ++r) means.push_back(Sum(Row(terms, r)) / static_cast<double>(terms.last()));
  return means;
}

Real AbsoluteError(Real y, Real p) { return Max(p - y, y - p); }

Real PercentageError(Real y, Real p) { return AbsoluteError(y, p) / Max(Max(y, y * -1), 1e-7) * 100; }

Real SquaredLogarithmicError(Real y, Real p) {
  const Real error = Log(Max(p, 1e-7) + 1) - Log(Max(y, 1e-7) + 1);
  return error * error;
}

Real Huber(Real y, Real p, double delta) {
  const Real size = AbsoluteError(y, p);
  Tape::Current().NoteChoice(std::abs(V(size) - delta));
  return V(size) <= delta ? size * size * 0.5 : size * delta - 0.5 * delta * delta;
}

Real LogCosh(Real y, Real p) {
  const Real e = p - y;
  return Log((Exp(e) + Exp(e * -1)) / 2);
}

Real Poisson(Real y, Real p) { return p - y * Log(p + 1e-7); }

Real Hinge(Real y, Real p) { return Max((V(y) == 0 ? p * -1 : y * p) * -1 + 1, 0); }

Real BinaryCrossEntropy(Real y, Real p, double smoothing) {
  const Real t = y * (1 - smoothing) + smoothing / 2;
  return (t * Log(p + 1e-7) + (t * -1 + 1) * Log(p * -1 + 1 + 1e-7)) * -1;
}

Real BinaryFocal(Real y, Real p, double gamma, double alpha, double smoothing) {
  const Real t = y * (1 - smoothing) + smoothing / 2;
  const Real of_label = t * p + (t * -1 + 1) * (p * -1 + 1);
  const Real loss = Exp(Log(of_label * -1 + 1) * gamma) * BinaryCrossEntropy(y, p, smoothing);
  return alpha < 0 ? loss : loss * (t * alpha + (t * -1 + 1) * (1 - alpha));
}

std::vector<Real> CategoricalFocal(const Array& labels, const Array& probabilities, double gamma, double alpha,
                                   double smoothing) {
  std::vector<Real> losses;
  for (int64_t r = 0; r < labels.rows(); ++r) {
    const Real sum = Sum(Row(probabilities, r));
    std::vector<Real> terms;
    for (int64_t i = 0; i < labels.last(); ++i) {
      const Real p = Row(probabilities, r)[i] / sum;
      terms.push_back(Exp(Log(p * -1 + 1) * gamma) * Log(p));
    }
    losses.push_back(CrossEntropy(Row(labels, r), terms, smoothing) * alpha);
  }
  return losses;
}

std::vector<Real> CategoricalHinge(const Array& labels, const Array& predictions) {
  std::vector<Real> losses;
  for (int64_t r = 0; r < labels.rows(); ++r) {
    const absl::Span<const Real> y = Row(labels, r), p = Row(predictions, r);
    Real wrong = (y[0] * -1 + 1) * p[0];
    for (size_t i = 1; i < p.size(); ++i) wrong = Max(wrong, (y[i] * -1 + 1) * p[i]);
    losses.push_back(Max(wrong - Dot(y, p) + 1, 0));
  }
  return losses;
}

std::vector<Real> KLDivergence(const Array& labels, const Array& predictions) {
  std::vector<Real> losses;
  for (int64_t r = 0; r < labels.rows(); ++r) {
    std::vector<Real> terms;
    for (int64_t i = 0; i < labels.last(); ++i) {
      const Real y = Min(Max(Row(labels, r)[i], 1e-7), 1), p = Min(Max(Row(predictions, r)[i], 1e-7), 1);
      terms.push_back(y * Log(y / p));
    }
    losses.push_back(Sum(terms));
  }
  return losses;
}

std::vector<Real> CosineSimilarity(const Array& labels, const Array& predictions) {
  std::vector<Real> losses;
  for (int64_t r = 0; r < labels.rows(); ++r) {
    const absl::Span<const Real> y = Row(labels, r), p = Row(predictions, r);
    losses.push_back(Dot(y, p) / Sqrt(Dot(y, y) * Dot(p, p)) * -1);
  }
  return losses;
}

Real Reduce(const std::vector<Real>& values, const std::vector<double>& weights, Mean mean) {
  std::vector<Real> weighted;
  double sum = 0, nonzero = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double w = weights.empty() ? 1 : weights[i];
    weighted.push_back(values[i] * w);
    sum += w;
    nonzero += w != 0;
  }
  const Real total = Sum(weighted);
  const double by = mean == Mean::kSum           ? 1
                    : mean == Mean::kOverWeights ? sum
                    : mean == Mean::kOverNonzero ? nonzero
                                                 : static_cast<double>(values.size());
  return by == 0 ? Tape::Current().Number(0) : total / by;
}

Real Penalty(const Array& variable, double l1, double l2) {
  std::vector<Real> magnitudes;
  for (Real v : variable.values) {
    if (l1 != 0) Tape::Current().NoteChoice(V(v));
    magnitudes.push_back(V(v) < 0 ? v * -1 : v);
  }
  return Sum(magnitudes) * l1 + Dot(variable.values, variable.values) * l2;
}

}  // namespace tandem::ref
