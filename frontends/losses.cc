#include "frontends/losses.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "frontends/loss_parts.h"
#include "frontends/score_uses.h"
#include "graph/logits.h"
#include "graph/ops.h"

namespace tandem::losses {
namespace {

using frontends::CommonGraph;
using frontends::IsFloat;
using frontends::IsInteger;
using frontends::ScalarConstant;
using frontends::SqueezeTo;
using frontends::TypeString;

// Returns num / den, or 0 where den is 0 (num is then 0 as well), without NaN in the value or the gradient.
Tensor DivNoNan(const Tensor& num, const Tensor& den, SourceLocation loc) {
  Tensor zero = ScalarConstant(den.graph(), 0, den.dtype(), loc);
  Tensor one = ScalarConstant(den.graph(), 1, den.dtype(), loc);
  return Div(num, Select(Equal(den, zero, loc), one, den, loc), loc);
}

// Checks the scores of a loss for several classes, which must be [b, ..., classes] in floating point.
bool CheckScores(GraphBuilder* graph, absl::string_view op, absl::string_view name, const Tensor& labels,
                 const Tensor& scores, SourceLocation loc) {
  if (scores.rank() >= 2 && IsFloat(scores.dtype())) return true;
  const bool swapped = labels.rank() >= 2 && IsFloat(labels.dtype()) && !IsFloat(scores.dtype());
  graph->FailAt(op,
                absl::StrCat("`", name, "` must be a floating-point [b, ..., classes], got ", TypeString(scores),
                             swapped ? absl::StrCat("; the first argument, ", TypeString(labels),
                                                    ", looks like it: labels come first, ", op, "(labels, ", name, ")")
                                     : ""),
                loc);
  return false;
}

// Records whether the loss `op` uses the scores as logits or as probabilities, for the check in score_uses.h.
void NoteCategorical(absl::string_view op, const Tensor& scores, bool from_logits, SourceLocation loc) {
  NoteScores(from_logits ? ScoreKind::kLogits : ScoreKind::kProbabilities, op, scores,
             from_logits ? "leave from_logits out"
                         : "put Softmax behind it, or set .from_logits = true, which is more accurate",
             loc);
}

// Describes the expected shape of class numbers: "[b,1] as the logits [b,1,3] without their last axis".
std::string ShapeOfClasses(const Tensor& logits) {
  Shape shape = logits.shape();
  shape.pop_back();
  return absl::StrCat(ShapeString(shape), " as the logits ", ShapeString(logits.shape()), " without their last axis");
}

// Returns dense labels (one number for each class) in the scores' type, after label smoothing; after an error, a tensor
// that is not ok().
Tensor DenseLabels(GraphBuilder* graph, absl::string_view op, const Tensor& labels, const Tensor& scores,
                   const LossOptions& options, SourceLocation loc) {
  if (labels.shape() != scores.shape()) {
    const bool sparse = IsInteger(labels.dtype()) && SqueezeTo(labels, scores.rank() - 1, loc).rank() < scores.rank();
    return graph->FailAt(op,
                         absl::StrCat("labels ", TypeString(labels), " do not match predictions ", TypeString(scores),
                                      sparse ? "; for class numbers use losses::SparseSoftmaxCrossEntropy" : ""),
                         loc);
  }
  if (!frontends::CheckSmoothing(graph, op, options.label_smoothing, loc)) return graph->Poisoned();
  const double s = options.label_smoothing;
  Tensor dense = labels.dtype() == scores.dtype() ? labels : Cast(labels, scores.dtype(), loc);
  if (s == 0) return dense;
  return Add(Mul(dense, 1 - s, loc), s / static_cast<double>(scores.shape().back()), loc);
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
  if (!CheckScores(graph, kOp, "logits", labels, logits, loc)) return graph->Poisoned();
  if (options.label_smoothing != 0) {
    return graph->FailAt(kOp, "`label_smoothing` needs one-hot labels: use losses::SoftmaxCrossEntropy", loc);
  }
  NameScope scope(graph, graph->UniqueName("sparse_softmax_cross_entropy_loss"));
  Tensor sparse = SqueezeTo(labels, logits.rank() - 1, loc);
  if (sparse.rank() != logits.rank() - 1 || !IsInteger(sparse.dtype())) {
    return graph->FailAt(
        kOp,
        absl::StrCat("`labels` must be class numbers, integers of shape ",
                     logits.rank() == 2 ? "[b]" : ShapeOfClasses(logits), ", got ", TypeString(labels),
                     labels.shape() == logits.shape() ? "; for one-hot labels use losses::SoftmaxCrossEntropy"
                     : IsFloat(labels.dtype())        ? "; convert them with Cast(labels, DType::kInt32)"
                                                      : "; Reshape labels or logits"),
        loc);
  }
  if (sparse.dtype() == DType::kUInt8) sparse = Cast(sparse, DType::kInt32, loc);
  NoteScores(ScoreKind::kLogits, kOp, logits, "take losses::SparseCategoricalCrossEntropy", loc);
  return ComputeWeightedLoss(tandem::SparseSoftmaxCrossEntropyWithLogits(sparse, logits, loc), options, loc);
}

Tensor SoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "SoftmaxCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"logits", logits}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, "logits", labels, logits, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName("softmax_cross_entropy_loss"));
  Tensor dense = DenseLabels(graph, kOp, labels, logits, options, loc);
  if (!dense.ok()) return dense;
  NoteScores(ScoreKind::kLogits, kOp, logits, "take losses::CategoricalCrossEntropy", loc);
  return ComputeWeightedLoss(tandem::SoftmaxCrossEntropyWithLogits(StopGradient(dense, loc), logits, loc), options,
                             loc);
}

Tensor CategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options,
                               SourceLocation loc) {
  constexpr char kOp[] = "CategoricalCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"probabilities", probabilities}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, options.from_logits ? "logits" : "probabilities", labels, probabilities, loc)) {
    return graph->Poisoned();
  }
  NameScope scope(graph, graph->UniqueName("categorical_crossentropy"));
  Tensor dense = DenseLabels(graph, kOp, labels, probabilities, options, loc);
  if (!dense.ok()) return dense;
  NoteCategorical(kOp, probabilities, options.from_logits, loc);
  Tensor logits = options.from_logits ? probabilities : SoftmaxLogits(probabilities);
  if (logits.ok()) return ComputeWeightedLoss(tandem::SoftmaxCrossEntropyWithLogits(dense, logits, loc), options, loc);
  Tensor p = frontends::CutProbabilities(Div(probabilities, ReduceSum(probabilities, {-1}, true, loc), loc), loc);
  Tensor losses = Neg(ReduceSum(Mul(dense, Log(p, loc), loc), {-1}, false, loc), loc);
  return ComputeWeightedLoss(losses, options, loc);
}

Tensor SparseCategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options,
                                     SourceLocation loc) {
  constexpr char kOp[] = "SparseCategoricalCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"probabilities", probabilities}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, options.from_logits ? "logits" : "probabilities", labels, probabilities, loc)) {
    return graph->Poisoned();
  }
  NameScope scope(graph, graph->UniqueName("sparse_categorical_crossentropy"));
  NoteCategorical(kOp, probabilities, options.from_logits, loc);
  // A nested ScoreUses takes the record of the inner loss, so that the caller's ScoreUses gets only the one made above.
  ScoreUses noted;
  if (options.from_logits) return SparseSoftmaxCrossEntropy(labels, probabilities, options, loc);
  Tensor logits = SoftmaxLogits(probabilities);
  if (!logits.ok()) logits = Log(frontends::CutProbabilities(probabilities, loc), loc);
  return SparseSoftmaxCrossEntropy(labels, logits, options, loc);
}

Tensor CategoricalFocalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const FocalOptions& options,
                                    SourceLocation loc) {
  constexpr char kOp[] = "CategoricalFocalCrossEntropy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"probabilities", probabilities}}, loc, &failed);
  if (graph == nullptr) return failed;
  if (!CheckScores(graph, kOp, options.from_logits ? "logits" : "probabilities", labels, probabilities, loc) ||
      !frontends::CheckFocal(graph, kOp, options, loc)) {
    return graph->Poisoned();
  }
  NameScope scope(graph, graph->UniqueName("categorical_focal_crossentropy"));
  const LossOptions reduce = frontends::ReductionOf(options);
  Tensor dense = DenseLabels(graph, kOp, labels, probabilities, reduce, loc);
  if (!dense.ok()) return dense;
  NoteCategorical(kOp, probabilities, options.from_logits, loc);
  Tensor p = options.from_logits ? Softmax(probabilities, loc) : probabilities;
  p = frontends::CutProbabilities(Div(p, ReduceSum(p, {-1}, true, loc), loc), loc);
  Tensor terms = Mul(Mul(dense, Log(p, loc), loc), -options.alpha, loc);
  if (options.gamma != 0) terms = Mul(terms, Pow(Add(Neg(p, loc), 1.0, loc), options.gamma, loc), loc);
  return ComputeWeightedLoss(ReduceSum(terms, {-1}, false, loc), reduce, loc);
}

Tensor ClassWeights(const Tensor& labels, const std::vector<double>& weights, SourceLocation loc) {
  constexpr char kOp[] = "ClassWeights";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}}, loc, &failed);
  if (graph == nullptr) return failed;
  NameScope scope(graph, graph->UniqueName("class_weights"));
  if (weights.empty()) return graph->FailAt(kOp, "`weights` is empty; give one number for each class", loc);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] >= 0 && std::isfinite(weights[i])) continue;
    return graph->FailAt(
        kOp, absl::StrCat("weights[", i, "] is ", weights[i], "; a class' weight must be a number of at least 0"), loc);
  }
  const int64_t classes = static_cast<int64_t>(weights.size());
  Tensor numbers = SqueezeTo(labels, 1, loc);
  if (numbers.rank() == 2 && numbers.shape()[1] == classes) {
    numbers = ArgMax(numbers, -1, loc);
  } else if (numbers.rank() != 1 || !IsInteger(numbers.dtype())) {
    return graph->FailAt(kOp,
                         absl::StrCat("`labels` must be class numbers, integers of shape [b], or one-hot [b,", classes,
                                      "] for the ", classes, " weights given, got ", TypeString(labels)),
                         loc);
  }
  if (numbers.dtype() == DType::kUInt8) numbers = Cast(numbers, DType::kInt32, loc);
  const std::vector<float> table(weights.begin(), weights.end());
  return Gather(graph->Constant(HostTensor::FromVector<float>({classes}, table), loc), numbers, loc);
}

Tensor RegularizationLoss(GraphBuilder* graph, SourceLocation loc) {
  if (graph == nullptr) return frontends::WithoutGraph("RegularizationLoss", "the graph is null", loc);
  NameScope scope(graph, graph->UniqueName("total_regularization_loss"));
  Tensor total;
  for (const Tensor& term : graph->regularization_losses()) {
    // If the terms have both precisions, because a part of the model is in single precision, the later terms are
    // converted.
    total = !total.ok() ? term : Add(total, term.dtype() == total.dtype() ? term : Cast(term, total.dtype(), loc), loc);
  }
  return total.ok() ? total : graph->Constant(0.0f, loc);
}

}  // namespace tandem::losses
