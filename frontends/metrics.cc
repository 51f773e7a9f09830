#include "frontends/metrics.h"

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "graph/ops.h"

namespace tandem::metrics {
namespace {

using frontends::CommonGraph;
using frontends::TypeString;

// Over a large batch a sum in float32 loses what a metric is printed with.
Tensor SumInDouble(const Tensor& x, SourceLocation loc) {
  return ReduceSum(Cast(x, DType::kFloat64, loc), {}, false, loc);
}

// Sums of float32 values of shape [b, ...] and of their weights.
Metric WeightedSums(absl::string_view op, const Tensor& values, const Tensor& weights, SourceLocation loc) {
  GraphBuilder* graph = values.graph();
  if (!values.ok()) return {values, values};
  if (!weights.empty()) {
    Tensor failed;
    if (CommonGraph(op, {{"values", values}, {"weights", weights}}, loc, &failed) == nullptr) return {failed, failed};
    Tensor w = frontends::AlignWeights(op, weights, values, loc);
    return {SumInDouble(Mul(values, w, loc), loc), SumInDouble(w, loc)};
  }
  // Without weights the count is known before the step: no reduction over the batch is needed for it.
  Shape shape = values.shape();
  Tensor count = graph->StepScalar("example_count", DType::kFloat32, std::nullopt, loc);
  const bool batched = !shape.empty() && shape[0] == kBatch;
  double inner = static_cast<double>(NumElements(absl::MakeConstSpan(shape).subspan(batched ? 1 : 0)));
  if (shape.empty()) return {Mul(values, count, loc), count};
  if (!batched) count = graph->Constant(1.0f, loc);
  return {SumInDouble(values, loc), inner == 1 ? count : Mul(count, inner, loc)};
}

// Class numbers of shape [b]: from one-hot labels or scores the largest, from [b, 1] its only column.
Tensor ClassNumbers(absl::string_view name, const Tensor& x, SourceLocation loc) {
  Tensor y = frontends::SqueezeTo(x, 1, loc);
  if (y.rank() == 2) return ArgMax(y, -1, loc);
  if (y.rank() == 1) return y;
  return x.graph()->FailAt("Accuracy", absl::StrCat("`", name, "` must be [b] or [b, classes], got ", TypeString(x)),
                           loc);
}

}  // namespace

Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Tensor& weights, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* graph = CommonGraph("Accuracy", {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  NameScope scope(graph, graph->UniqueName("accuracy"));
  Tensor actual = ClassNumbers("labels", labels, loc);
  Tensor predicted = ClassNumbers("predictions", predictions, loc);
  if (!actual.ok() || !predicted.ok()) return {graph->Poisoned(), graph->Poisoned()};
  if (actual.dtype() != predicted.dtype()) {
    // int64 holds every class number of the other integer types; next to a float label the prediction becomes one.
    const DType common = frontends::IsFloat(actual.dtype())      ? actual.dtype()
                         : frontends::IsFloat(predicted.dtype()) ? predicted.dtype()
                                                                 : DType::kInt64;
    if (actual.dtype() != common) actual = Cast(actual, common, loc);
    if (predicted.dtype() != common) predicted = Cast(predicted, common, loc);
  }
  return WeightedSums("Accuracy", Cast(Equal(actual, predicted, loc), DType::kFloat32, loc), weights, loc);
}

Metric Mean(const Tensor& values, const Tensor& weights, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* graph = CommonGraph("Mean", {{"values", values}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  NameScope scope(graph, graph->UniqueName("mean"));
  if (values.rank() == 0 && !weights.empty()) {
    failed = graph->FailAt("Mean", "a scalar takes no weights: pass the values per example, shape [b]", loc);
    return {failed, failed};
  }
  Tensor numbers = values.dtype() == DType::kFloat32 ? values : Cast(values, DType::kFloat32, loc);
  return WeightedSums("Mean", numbers, weights, loc);
}

}  // namespace tandem::metrics
