#include "frontends/losses.h"

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "graph/ops.h"
#include "graph/softmax_logits.h"

namespace tandem::losses {
namespace {

using frontends::CommonGraph;
using frontends::IsFloat;
using frontends::IsInteger;
using frontends::ScalarConstant;
using frontends::SqueezeTo;
using frontends::TypeString;

// Keras' epsilon().
constexpr double kProbabilityEpsilon = 1e-7;

// num / den, 0 where den is 0 (then num is 0 as well): no NaN in the value and none in the gradient.
Tensor DivNoNan(const Tensor& num, const Tensor& den, SourceLocation loc) {
  Tensor zero = ScalarConstant(den.graph(), 0, den.dtype(), loc);
  Tensor one = ScalarConstant(den.graph(), 1, den.dtype(), loc);
  return Div(num, Select(Equal(den, zero, loc), one, den, loc), loc);
}

// Checks the second argument of a categorical loss: [b, classes], floating point.
bool CheckScores(GraphBuilder* graph, absl::string_view op, absl::string_view name, const Tensor& scores,
                 SourceLocation loc) {
  if (scores.rank() == 2 && IsFloat(scores.dtype())) return true;
  graph->FailAt(op, absl::StrCat("`", name, "` must be a floating-point [b, classes], got ", TypeString(scores)), loc);
  return false;
}

// Dense labels in the scores' type, smoothed; poisoned on an error.
Tensor DenseLabels(GraphBuilder* graph, absl::string_view op, const Tensor& labels, const Tensor& scores,
                   const LossOptions& options, SourceLocation loc) {
  if (labels.shape() != scores.shape()) {
    bool sparse = IsInteger(labels.dtype()) && (labels.rank() == 1 || (labels.rank() == 2 && labels.shape()[1] == 1));
    return graph->FailAt(op,
                         absl::StrCat("labels ", TypeString(labels), " do not match predictions ", TypeString(scores),
                                      sparse ? "; for class numbers use losses::SparseSoftmaxCrossEntropy" : ""),
                         loc);
  }
  double s = options.label_smoothing;
  if (!(s >= 0 && s <= 1)) {
    return graph->FailAt(op, absl::StrCat("`label_smoothing` must be in [0, 1], got ", s), loc);
  }
  Tensor dense = labels.dtype() == scores.dtype() ? labels : Cast(labels, scores.dtype(), loc);
  if (s == 0) return dense;
  return Add(Mul(dense, 1 - s, loc), s / static_cast<double>(scores.shape()[1]), loc);
}

}  // namespace

Tensor ComputeWeightedLoss(const Tensor& losses, const LossOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "ComputeWeightedLoss";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"losses", losses}}, loc, &failed);
  if (graph == nullptr) return failed;
  const bool weighted = !options.weights.empty();
  Tensor weights, values = losses;
  if (weighted) {
    if (CommonGraph(kOp, {{"losses", losses}, {"weights", options.weights}}, loc, &failed) == nullptr) return failed;
    weights = frontends::AlignWeights(kOp, options.weights, losses, loc);
    values = Mul(losses, weights, loc);
    if (!values.ok()) return values;
  }
  switch (options.reduction) {
    case Reduction::kNone:
      return values;
    case Reduction::kSum:
      return ReduceSum(values, {}, false, loc);
    case Reduction::kSumOverBatchSize:
      break;
    case Reduction::kMean:
      if (!weighted) break;
      return DivNoNan(ReduceSum(values, {}, false, loc), ReduceSum(weights, {}, false, loc), loc);
    case Reduction::kSumByNonzeroWeights: {
      if (!weighted) break;
      Tensor nonzero = NotEqual(weights, ScalarConstant(graph, 0, weights.dtype(), loc), loc);
      Tensor count = ReduceSum(Cast(nonzero, values.dtype(), loc), {}, false, loc);
      return DivNoNan(ReduceSum(values, {}, false, loc), count, loc);
    }
  }
  return ReduceMean(values, {}, false, loc);
}

Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options,
                                 SourceLocation loc) {
  constexpr char kOp[] = "SparseSoftmaxCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"logits", logits}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, "logits", logits, loc)) return graph->Poisoned();
  if (options.label_smoothing != 0) {
    return graph->FailAt(kOp, "`label_smoothing` needs one-hot labels: use losses::SoftmaxCrossEntropy", loc);
  }
  NameScope scope(graph, graph->UniqueName("sparse_softmax_cross_entropy_loss"));
  Tensor sparse = SqueezeTo(labels, 1, loc);
  if (sparse.rank() != 1 || !IsInteger(sparse.dtype())) {
    return graph->FailAt(
        kOp,
        absl::StrCat("`labels` must be class numbers, integers of shape [b], got ", TypeString(labels),
                     labels.shape() == logits.shape() ? "; for one-hot labels use losses::SoftmaxCrossEntropy"
                     : IsFloat(labels.dtype())        ? "; convert them with Cast(labels, DType::kInt32)"
                                                      : ""),
        loc);
  }
  if (sparse.dtype() == DType::kUInt8) sparse = Cast(sparse, DType::kInt32, loc);
  return ComputeWeightedLoss(tandem::SparseSoftmaxCrossEntropy(sparse, logits, loc), options, loc);
}

Tensor SoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "SoftmaxCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"logits", logits}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, "logits", logits, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName("softmax_cross_entropy_loss"));
  Tensor dense = DenseLabels(graph, kOp, labels, logits, options, loc);
  if (!dense.ok()) return dense;
  return ComputeWeightedLoss(tandem::SoftmaxCrossEntropy(dense, logits, loc), options, loc);
}

Tensor CategoricalCrossentropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options,
                               SourceLocation loc) {
  constexpr char kOp[] = "CategoricalCrossentropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"probabilities", probabilities}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, "probabilities", probabilities, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName("categorical_crossentropy"));
  Tensor dense = DenseLabels(graph, kOp, labels, probabilities, options, loc);
  if (!dense.ok()) return dense;
  Tensor logits = SoftmaxLogits(probabilities);
  if (logits.ok()) return ComputeWeightedLoss(tandem::SoftmaxCrossEntropy(dense, logits, loc), options, loc);
  Tensor p = Div(probabilities, ReduceSum(probabilities, {-1}, true, loc), loc);
  p = Minimum(Maximum(p, kProbabilityEpsilon, loc), 1 - kProbabilityEpsilon, loc);
  Tensor losses = Neg(ReduceSum(Mul(dense, Log(p, loc), loc), {-1}, false, loc), loc);
  return ComputeWeightedLoss(losses, options, loc);
}

Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const LossOptions& options,
                        SourceLocation loc) {
  constexpr char kOp[] = "MeanSquaredError";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!IsFloat(predictions.dtype())) {
    return graph->FailAt(kOp, absl::StrCat("`predictions` must be floating point, got ", TypeString(predictions)), loc);
  }
  NameScope scope(graph, graph->UniqueName("mean_squared_error"));
  Tensor y = SqueezeTo(labels, predictions.rank(), loc);
  Tensor p = SqueezeTo(predictions, labels.rank(), loc);
  if (y.shape() != p.shape()) {
    return graph->FailAt(kOp,
                         absl::StrCat("labels ", ShapeString(labels.shape()), " and predictions ",
                                      ShapeString(predictions.shape()), " must have the same shape"),
                         loc);
  }
  if (y.dtype() != p.dtype()) y = Cast(y, p.dtype(), loc);
  Tensor squares = Square(Sub(p, y, loc), loc);
  if (squares.rank() >= 2) squares = ReduceMean(squares, {-1}, false, loc);
  return ComputeWeightedLoss(squares, options, loc);
}

Tensor RegularizationLoss(GraphBuilder* graph, SourceLocation loc) {
  if (graph == nullptr) return frontends::WithoutGraph("RegularizationLoss", "the graph is null", loc);
  NameScope scope(graph, graph->UniqueName("total_regularization_loss"));
  Tensor total;
  for (const Tensor& term : graph->regularization_losses()) {
    // A model in double precision may have a part in single.
    total = !total.ok() ? term : Add(total, term.dtype() == total.dtype() ? term : Cast(term, total.dtype(), loc), loc);
  }
  return total.ok() ? total : graph->Constant(0.0f, loc);
}

}  // namespace tandem::losses
