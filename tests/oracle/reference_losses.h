// The losses' formulas written once more, from Keras' and TensorFlow's documentation.
#ifndef TANDEM_TESTS_ORACLE_REFERENCE_LOSSES_H_
#define TANDEM_TESTS_ORACLE_REFERENCE_LOSSES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/oracle/reference_layers.h"
#include "tests/oracle/tape.h"

namespace tandem::ref {

// Values per example.
std::vector<Real> SparseSoftmaxCrossEntropy(const std::vector<int64_t>& labels, const Array& logits);
// `smoothing` takes that share of each label and spreads it over the classes.
std::vector<Real> SoftmaxCrossEntropy(const Array& labels, const Array& logits, double smoothing = 0);
std::vector<Real> CategoricalCrossEntropy(const Array& labels, const Array& probabilities, double smoothing = 0);
// The mean over the last axis where there is one behind the batch.
std::vector<Real> SquaredErrors(const Array& labels, const Array& predictions);

// The mean over the last axis of f(label, prediction).
std::vector<Real> MeanOfRows(const Array& labels, const Array& predictions, const std::function<Real(Real, Real)>& f);
// Of one label and prediction.
Real AbsoluteError(Real y, Real p);
// Per cent of a label that is not 0.
Real PercentageError(Real y, Real p);
Real SquaredLogarithmicError(Real y, Real p);
Real Huber(Real y, Real p, double delta);
Real LogCosh(Real y, Real p);
Real Poisson(Real y, Real p);
Real Hinge(Real y, Real p);  // a label of 0 is -1
Real BinaryCrossEntropy(Real y, Real p, double smoothing = 0);
// Without weights of the two classes where `alpha` is negative.
Real BinaryFocal(Real y, Real p, double gamma, double alpha = -1, double smoothing = 0);
// Values per example.
std::vector<Real> CategoricalFocal(const Array& labels, const Array& probabilities, double gamma, double alpha,
                                   double smoothing = 0);
std::vector<Real> CategoricalHinge(const Array& labels, const Array& predictions);
std::vector<Real> KLDivergence(const Array& labels, const Array& predictions);
std::vector<Real> CosineSimilarity(const Array& labels, const Array& predictions);

enum class Mean {
  kOverExamples,  // of all values, whatever their weight
  kSum,
  kOverWeights,  // by the sum of the weights
  kOverNonzero,  // by the number of weights that are not 0
};
// `weights`: one per value, or none for all 1. 0 where there is nothing to divide by.
Real Reduce(const std::vector<Real>& values, const std::vector<double>& weights, Mean mean);

// l1 times the sum of magnitudes plus l2 times the sum of squares.
Real Penalty(const Array& variable, double l1, double l2);

}  // namespace tandem::ref

#endif  // TANDEM_TESTS_ORACLE_REFERENCE_LOSSES_H_
