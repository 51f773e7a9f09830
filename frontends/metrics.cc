#include "frontends/metrics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "frontends/metric_parts.h"
#include "frontends/score_uses.h"
#include "graph/ops.h"

namespace tandem {

bool Metric::ok() const {
  if (!result) return total.ok() && count.ok();
  return !sums.empty() && std::all_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.second.ok(); });
}

}  // namespace tandem

namespace tandem::metrics {
namespace {

using frontends::CommonGraph;
using frontends::TypeString;

// Returns float32 or float64, whichever holds numbers of type `dtype` without rounding. For int64, float64 does so only
// up to 2^53.
DType ExactFloat(DType dtype) {
  const bool more_digits = dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat64;
  return more_digits ? DType::kFloat64 : DType::kFloat32;
}

DType Wider(DType a, DType b) {
  return a == DType::kFloat64 || b == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

Tensor CastTo(DType dtype, const Tensor& x, SourceLocation loc) { return x.dtype() == dtype ? x : Cast(x, dtype, loc); }

// Sums in float64, because a float32 sum over a large batch loses digits that are printed.
Tensor SumInDouble(const Tensor& x, SourceLocation loc) {
  return ReduceSum(Cast(x, DType::kFloat64, loc), {}, false, loc);
}

// Makes the sum of floating-point values of shape [b, ...] and the sum of their weights. Values without a batch axis,
// which describe a whole batch, are weighted by the number of examples in the batch.
Metric WeightedSums(absl::string_view op, const Tensor& values, const Tensor& weights, SourceLocation loc) {
  GraphBuilder* graph = values.graph();
  if (!values.ok()) return {values, values};
  const Shape shape = values.shape();
  const bool batched = !shape.empty() && shape[0] == kBatch;
  const Tensor examples = graph->StepScalar("example_count", DType::kFloat32, std::nullopt, loc);
  if (!weights.empty()) {
    Tensor failed;
    if (CommonGraph(op, {{"values", values}, {"weights", weights}}, loc, &failed) == nullptr) return {failed, failed};
    const DType dtype = Wider(ExactFloat(values.dtype()), ExactFloat(weights.dtype()));
    const Tensor v = CastTo(dtype, values, loc), w = frontends::AlignWeights(op, weights, v, loc);
    const Tensor total = SumInDouble(Mul(v, w, loc), loc), count = SumInDouble(w, loc);
    if (batched) return {total, count};
    const Tensor times = Cast(examples, DType::kFloat64, loc);
    return {Mul(total, times, loc), Mul(count, times, loc)};
  }
  // Without weights, the count follows from the number of examples, which is known before the step, so that it needs no
  // reduction over the batch.
  const double inner = static_cast<double>(NumElements(absl::MakeConstSpan(shape).subspan(batched ? 1 : 0)));
  const Tensor count = inner == 1 ? examples : Mul(examples, inner, loc);
  if (batched) return {SumInDouble(values, loc), count};
  const Tensor sum = shape.empty() ? CastTo(DType::kFloat64, values, loc) : SumInDouble(values, loc);
  return {Mul(sum, Cast(examples, DType::kFloat64, loc), loc), count};
}

// Converts float32 predictions to float64 if the labels, which are converted to the predictions' type, would be
// rounded. This matters for differences of labels and predictions.
Tensor ExactBeside(const Tensor& labels, const Tensor& predictions, SourceLocation loc) {
  if (!labels.ok() || !predictions.ok() || predictions.dtype() != DType::kFloat32) return predictions;
  return CastTo(ExactFloat(labels.dtype()), predictions, loc);
}

// Returns a metric that is the mean of f(label, prediction) over all elements.
template <typename F>
Metric MeanOfPairs(const char* op, const char* scope_name, const Tensor& labels, const Tensor& predictions,
                   const Tensor& weights, SourceLocation loc, F f, int min_rank = 0) {
  frontends::AlignedPair pair = frontends::AlignPair(op, labels, "predictions", predictions, loc, min_rank);
  if (pair.graph == nullptr) return {pair.failed, pair.failed};
  NameScope scope(pair.graph, pair.graph->UniqueName(scope_name));
  return WeightedSums(op, f(pair.labels, pair.predictions), weights, loc);
}

// Converts labels (class numbers or one-hot) and predictions (class numbers or scores) to class numbers of one shape,
// [b, ...]. Returns a description of the error, or "".
std::string AlignClasses(const Tensor& labels, const Tensor& predictions, Tensor* actual, Tensor* predicted,
                         SourceLocation loc) {
  const std::string both =
      absl::StrCat("`labels` ", TypeString(labels), " do not fit `predictions` ", TypeString(predictions));
  if (labels.rank() < 1 || predictions.rank() < 1) return both + ": both must be of examples, [b] or [b, ...]";
  // Predictions are scores if they have an axis of classes. Class numbers may have a last axis of size 1.
  const bool scores =
      frontends::IsFloat(predictions.dtype()) && predictions.rank() >= 2 && predictions.shape().back() > 1;
  *predicted = scores ? frontends::LargestClass(predictions, loc) : predictions;
  if (!scores && predictions.rank() > 1) *predicted = frontends::SqueezeTo(predictions, predictions.rank() - 1, loc);
  *actual = frontends::SqueezeTo(labels, predicted->rank(), loc);
  if (actual->rank() == predicted->rank() + 1) *actual = frontends::LargestClass(*actual, loc);
  if (!actual->ok() || !predicted->ok()) return "";
  if (actual->shape() != predicted->shape()) {
    return both +
           ": labels are class numbers [b, ...] or one-hot [b, ..., classes], predictions class numbers or scores";
  }
  if (frontends::IsInteger(actual->dtype()) && frontends::IsFloat(predicted->dtype())) {
    return absl::StrCat("`predictions` ", TypeString(predictions),
                        " are no class numbers; for probabilities of two classes use metrics::BinaryAccuracy, for "
                        "numbers Cast(predictions, DType::kInt32)");
  }
  return "";
}

}  // namespace

Metric Accuracy(const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* graph = CommonGraph("Accuracy", {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  NameScope scope(graph, graph->UniqueName("accuracy"));
  Tensor actual, predicted;
  if (std::string problem = AlignClasses(labels, predictions, &actual, &predicted, loc); !problem.empty()) {
    failed = graph->FailAt("Accuracy", problem, loc);
    return {failed, failed};
  }
  if (!actual.ok() || !predicted.ok()) return {graph->Poisoned(), graph->Poisoned()};
  if (actual.dtype() != predicted.dtype()) {
    // int64 holds the class numbers of all integer types. If labels or predictions are in floating point, both are
    // converted to a floating-point type without rounding.
    const bool floats = frontends::IsFloat(actual.dtype()) || frontends::IsFloat(predicted.dtype());
    const DType common = floats ? Wider(ExactFloat(actual.dtype()), ExactFloat(predicted.dtype())) : DType::kInt64;
    actual = CastTo(common, actual, loc);
    predicted = CastTo(common, predicted, loc);
  }
  return WeightedSums("Accuracy", Cast(Equal(actual, predicted, loc), DType::kFloat32, loc), options.weights, loc);
}

Metric Mean(const Tensor& values, const MetricOptions& options, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* graph = CommonGraph("Mean", {{"values", values}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  NameScope scope(graph, graph->UniqueName("mean"));
  if (values.rank() == 0 && !options.weights.empty()) {
    failed = graph->FailAt("Mean", "a scalar takes no weights: pass the values per example, shape [b]", loc);
    return {failed, failed};
  }
  return WeightedSums("Mean", CastTo(ExactFloat(values.dtype()), values, loc), options.weights, loc);
}

Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                         SourceLocation loc) {
  return MeanOfPairs("MeanAbsoluteError", "mean_absolute_error", labels, ExactBeside(labels, predictions, loc),
                     options.weights, loc, [&](const Tensor& y, const Tensor& p) { return Abs(Sub(p, y, loc), loc); });
}

Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                        SourceLocation loc) {
  return MeanOfPairs("MeanSquaredError", "mean_squared_error", labels, ExactBeside(labels, predictions, loc),
                     options.weights, loc,
                     [&](const Tensor& y, const Tensor& p) { return Square(Sub(p, y, loc), loc); });
}

Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                            SourceLocation loc) {
  Metric mean =
      MeanOfPairs("RootMeanSquaredError", "root_mean_squared_error", labels, ExactBeside(labels, predictions, loc),
                  options.weights, loc, [&](const Tensor& y, const Tensor& p) { return Square(Sub(p, y, loc), loc); });
  if (!mean.ok()) return mean;
  return {.sums = {{"total", mean.total}, {"count", mean.count}},
          .result = [](const MetricSums& sums) { return std::sqrt(sums.at("total")[0] / sums.at("count")[0]); }};
}

Metric CosineSimilarity(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                        SourceLocation loc) {
  auto direction = [&](const Tensor& x) {
    // A squared length counts as at least 1e-12, as in Keras.
    return Mul(x, Rsqrt(Maximum(ReduceSum(Square(x, loc), {-1}, true, loc), 1e-12, loc), loc), loc);
  };
  return MeanOfPairs(
      "CosineSimilarity", "cosine_similarity", labels, predictions, options.weights, loc,
      [&](const Tensor& y, const Tensor& p) {
        return ReduceSum(Mul(direction(y), direction(p), loc), {-1}, false, loc);
      },
      /*min_rank=*/2);
}

Metric BinaryAccuracy(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options,
                      SourceLocation loc) {
  constexpr char kOp[] = "BinaryAccuracy";
  if (!std::isfinite(options.threshold) && predictions.ok()) {
    Tensor failed =
        predictions.graph()->FailAt(kOp, absl::StrCat("`threshold` must be a number, got ", options.threshold), loc);
    return {failed, failed};
  }
  if (options.threshold > 0 && options.threshold < 1) {
    NoteScores(ScoreKind::kThresholded, kOp, predictions,
               absl::StrCat("pass their Sigmoid, or a threshold for logits in place of ", options.threshold), loc);
  }
  return MeanOfPairs(
      kOp, "binary_accuracy", labels, predictions, options.weights, loc, [&](const Tensor& y, const Tensor& p) {
        GraphBuilder* graph = p.graph();
        Tensor actual = NotEqual(y, frontends::ScalarConstant(graph, 0, y.dtype(), loc), loc);
        Tensor predicted = Greater(p, frontends::ScalarConstant(graph, options.threshold, p.dtype(), loc), loc);
        return Cast(Equal(Cast(actual, DType::kInt32, loc), Cast(predicted, DType::kInt32, loc), loc), DType::kFloat32,
                    loc);
      });
}

Metric TopKAccuracy(const Tensor& labels, const Tensor& predictions, const TopKOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "TopKAccuracy";
  Tensor failed;
  GraphBuilder* graph = CommonGraph(kOp, {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  auto fail = [&](absl::string_view problem) -> Metric {
    failed = graph->FailAt(kOp, problem, loc);
    return {failed, failed};
  };
  if (predictions.rank() != 2 || !frontends::IsFloat(predictions.dtype())) {
    return fail(
        absl::StrCat("`predictions` must be scores, a floating-point [b, classes], got ", TypeString(predictions)));
  }
  if (options.k < 1) return fail(absl::StrCat("`k` must be at least 1, got ", options.k));
  NameScope scope(graph, graph->UniqueName("top_k_accuracy"));
  const frontends::ClassIndices classes = frontends::FindClasses(kOp, labels, predictions, predictions.shape()[1], loc);
  if (!classes.ok()) return {graph->Poisoned(), graph->Poisoned()};
  Tensor hot = OneHot(classes.labels, predictions.shape()[1], predictions.dtype(), loc);
  // The label's score is selected and not multiplied by 0 or 1, because a masked class may have the score -inf.
  Tensor zero = frontends::ScalarConstant(graph, 0, predictions.dtype(), loc);
  Tensor score = ReduceSum(Select(Greater(hot, zero, loc), predictions, zero, loc), {-1}, true, loc);
  // The comparison is false for NaN, so a class whose score is NaN counts as better than the label's class.
  Tensor not_better = ReduceSum(Cast(LessEqual(predictions, score, loc), DType::kFloat32, loc), {-1}, false, loc);
  const double least = static_cast<double>(predictions.shape()[1] - options.k);
  Tensor hit = And(Greater(not_better, frontends::ScalarConstant(graph, least, DType::kFloat32, loc), loc),
                   IsFinite(Reshape(score, {kBatch}, loc), loc), loc);
  // If a label is not one of the classes, its row of `hot` is all 0, and the prediction counts as wrong.
  Tensor is_class = Greater(ReduceSum(hot, {-1}, false, loc), zero, loc);
  return WeightedSums(kOp, Cast(And(hit, is_class, loc), DType::kFloat32, loc), options.weights, loc);
}

}  // namespace tandem::metrics
