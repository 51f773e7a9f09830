// Losses for numbers, distributions and directions.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/activations.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "frontends/loss_parts.h"
#include "frontends/losses.h"
#include "graph/ops.h"

namespace tandem::losses {
namespace {

using frontends::AlignedPair;
using frontends::ScalarConstant;

// The least value that a squared length counts as, as in Keras.
constexpr double kSquaredLengthEpsilon = 1e-12;

Tensor Error(const AlignedPair& in, SourceLocation loc) { return Sub(in.predictions, in.labels, loc); }

// Divides each row by its Euclidean length.
Tensor Normalized(const Tensor& x, SourceLocation loc) {
  Tensor square = Maximum(ReduceSum(Square(x, loc), {-1}, true, loc), kSquaredLengthEpsilon, loc);
  return Mul(x, Rsqrt(square, loc), loc);
}

}  // namespace

Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                        SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("MeanSquaredError", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("mean_squared_error"));
  return ComputeWeightedLoss(frontends::MeanOfRows(Square(Error(in, loc), loc), loc), options, loc);
}

Tensor MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                         SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("MeanAbsoluteError", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("mean_absolute_error"));
  return ComputeWeightedLoss(frontends::MeanOfRows(Abs(Error(in, loc), loc), loc), options, loc);
}

Tensor MeanAbsolutePercentageError(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                                   SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("MeanAbsolutePercentageError", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("mean_absolute_percentage_error"));
  Tensor size = Maximum(Abs(in.labels, loc), frontends::kProbabilityEpsilon, loc);
  Tensor share = Div(Abs(Error(in, loc), loc), size, loc);
  return ComputeWeightedLoss(Mul(frontends::MeanOfRows(share, loc), 100.0, loc), options, loc);
}

Tensor MeanSquaredLogarithmicError(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                                   SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("MeanSquaredLogarithmicError", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("mean_squared_logarithmic_error"));
  auto logarithm = [&](const Tensor& x) {
    return Log(Add(Maximum(x, frontends::kProbabilityEpsilon, loc), 1.0, loc), loc);
  };
  Tensor error = Sub(logarithm(in.predictions), logarithm(in.labels), loc);
  return ComputeWeightedLoss(frontends::MeanOfRows(Square(error, loc), loc), options, loc);
}

Tensor Huber(const Tensor& labels, const Tensor& predictions, const HuberOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "Huber";
  AlignedPair in = frontends::AlignPair(kOp, labels, "predictions", predictions, loc);
  if (in.graph == nullptr) return in.failed;
  const double delta = options.delta;
  if (!(delta > 0) || !std::isfinite(delta)) {
    return in.graph->FailAt(kOp, absl::StrCat("`delta` must be a positive number, got ", delta), loc);
  }
  NameScope scope(in.graph, in.graph->UniqueName("huber_loss"));
  Tensor error = Error(in, loc), size = Abs(error, loc);
  Tensor near = LessEqual(size, ScalarConstant(in.graph, delta, size.dtype(), loc), loc);
  Tensor terms =
      Select(near, Mul(Square(error, loc), 0.5, loc), Sub(Mul(size, delta, loc), 0.5 * delta * delta, loc), loc);
  return ComputeWeightedLoss(frontends::MeanOfRows(terms, loc),
                             {.weights = options.weights, .reduction = options.reduction}, loc);
}

Tensor LogCosh(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("LogCosh", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("log_cosh"));
  Tensor error = Error(in, loc);
  Tensor terms = Sub(Add(error, Softplus(Mul(error, -2.0, loc), loc), loc), std::log(2.0), loc);
  return ComputeWeightedLoss(frontends::MeanOfRows(terms, loc), options, loc);
}

Tensor Poisson(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("Poisson", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("poisson"));
  Tensor log_rate = Log(Add(in.predictions, frontends::kProbabilityEpsilon, loc), loc);
  Tensor terms = Sub(in.predictions, Mul(in.labels, log_rate, loc), loc);
  return ComputeWeightedLoss(frontends::MeanOfRows(terms, loc), options, loc);
}

Tensor CategoricalHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                        SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("CategoricalHinge", labels, predictions, options, loc, /*min_rank=*/2);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("categorical_hinge"));
  Tensor right = ReduceSum(Mul(in.labels, in.predictions, loc), {-1}, false, loc);
  Tensor wrong = ReduceMax(Mul(Add(Neg(in.labels, loc), 1.0, loc), in.predictions, loc), {-1}, false, loc);
  return ComputeWeightedLoss(Maximum(Add(Sub(wrong, right, loc), 1.0, loc), 0.0, loc), options, loc);
}

Tensor KLDivergence(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("KLDivergence", labels, predictions, options, loc, /*min_rank=*/2);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("kl_divergence"));
  auto cut = [&](const Tensor& p) { return Minimum(Maximum(p, frontends::kProbabilityEpsilon, loc), 1.0, loc); };
  Tensor y = cut(in.labels), p = cut(in.predictions);
  Tensor terms = Mul(y, Log(Div(y, p, loc), loc), loc);
  return ComputeWeightedLoss(ReduceSum(terms, {-1}, false, loc), options, loc);
}

Tensor CosineSimilarity(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                        SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("CosineSimilarity", labels, predictions, options, loc, /*min_rank=*/2);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("cosine_similarity"));
  Tensor products = Mul(Normalized(in.labels, loc), Normalized(in.predictions, loc), loc);
  return ComputeWeightedLoss(Neg(ReduceSum(products, {-1}, false, loc), loc), options, loc);
}

}  // namespace tandem::losses
