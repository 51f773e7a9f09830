// Metrics for several classes.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/metric_parts.h"
#include "frontends/metrics.h"
#include "graph/ops.h"

namespace tandem::metrics {
namespace {

using frontends::ClassIndices;
using frontends::Quotient;

// Labels and predictions as one-hot rows, float64 [b, classes]. The rows of the labels are multiplied by the examples'
// weights.
struct ClassRows {
  GraphBuilder* graph = nullptr;  // null after an error; then return Failed(failed)
  Tensor labels, predictions;
  Tensor outside;  // number of examples whose label or prediction is not one of the classes
  int64_t num_classes = 0;
  Tensor failed;
};

ClassRows RowsOf(const char* op, const Tensor& labels, const Tensor& predictions, const ClassOptions& options,
                 SourceLocation loc) {
  ClassRows rows;
  const ClassIndices classes = frontends::FindClasses(op, labels, predictions, options.num_classes, loc);
  rows.failed = classes.labels.ok() ? classes.predictions : classes.labels;
  if (!classes.ok()) return rows;
  Tensor weights = frontends::DoubleWeights(op, options.weights, classes.labels, loc);
  if (!weights.ok()) {
    rows.failed = weights;
    return rows;
  }
  rows.graph = classes.labels.graph();
  rows.num_classes = classes.num_classes;
  rows.predictions = OneHot(classes.predictions, classes.num_classes, DType::kFloat64, loc);
  Tensor actual = OneHot(classes.labels, classes.num_classes, DType::kFloat64, loc);
  rows.labels = Mul(actual, Reshape(weights, {kBatch, 1}, loc), loc);
  Tensor known = Mul(ReduceSum(actual, {-1}, false, loc), ReduceSum(rows.predictions, {-1}, false, loc), loc);
  rows.outside = ReduceSum(Add(Neg(known, loc), 1.0, loc), {}, false, loc);
  return rows;
}

// Returns the matrix labels^T predictions: element [i, j] is the sum over the examples of label i times prediction j.
Tensor Products(const ClassRows& rows, bool weighted, SourceLocation loc) {
  if (!weighted) {
    // The product is computed in float32, which is exact: zeros and ones are exact in every precision that a product
    // may use, and so are counts of less than 2^24 rows in a float32 sum.
    Tensor labels = Cast(rows.labels, DType::kFloat32, loc), predictions = Cast(rows.predictions, DType::kFloat32, loc);
    return Cast(MatMul(labels, predictions, /*transpose_a=*/true, false, loc), DType::kFloat64, loc);
  }
  const int64_t n = rows.num_classes;
  Tensor labels = Reshape(rows.labels, {kBatch, n, 1}, loc),
         predictions = Reshape(rows.predictions, {kBatch, 1, n}, loc);
  return ReduceSum(Mul(labels, predictions, loc), {0}, false, loc);
}

// Wraps `result` so that it returns an error if an example's label or prediction is not one of the classes.
MetricResult OfKnownClasses(std::string op, int64_t num_classes, MetricResult result) {
  return [=, op = std::move(op), result = std::move(result)](const MetricSums& sums) -> absl::StatusOr<MetricValue> {
    const double outside = sums.at("outside")[0];
    if (outside == 0) return result(sums);
    return absl::OutOfRangeError(absl::StrCat(op, ": ", outside,
                                              " examples have a label or prediction that is not one "
                                              "of the ",
                                              num_classes, " classes 0 to ", num_classes - 1,
                                              "; correct the data or `num_classes`"));
  };
}

}  // namespace

Metric ConfusionMatrix(const Tensor& labels, const Tensor& predictions, const ClassOptions& options,
                       SourceLocation loc) {
  constexpr char kOp[] = "ConfusionMatrix";
  const ClassRows rows = RowsOf(kOp, labels, predictions, options, loc);
  if (rows.graph == nullptr) return frontends::Failed(rows.failed);
  NameScope scope(rows.graph, rows.graph->UniqueName("confusion_matrix"));
  const int64_t n = rows.num_classes;
  return {.sums = {{"matrix", Products(rows, !options.weights.empty(), loc)}, {"outside", rows.outside}},
          .result = OfKnownClasses(kOp, n, [n](const MetricSums& sums) {
            return HostTensor::FromVector<double>({n, n}, sums.at("matrix"));
          })};
}

Metric MeanPerClassAccuracy(const Tensor& labels, const Tensor& predictions, const ClassOptions& options,
                            SourceLocation loc) {
  constexpr char kOp[] = "MeanPerClassAccuracy";
  const ClassRows rows = RowsOf(kOp, labels, predictions, options, loc);
  if (rows.graph == nullptr) return frontends::Failed(rows.failed);
  NameScope scope(rows.graph, rows.graph->UniqueName("mean_per_class_accuracy"));
  return {.sums = {{"right", ReduceSum(Mul(rows.labels, rows.predictions, loc), {0}, false, loc)},
                   {"labels", ReduceSum(rows.labels, {0}, false, loc)},
                   {"outside", rows.outside}},
          .result = OfKnownClasses(kOp, rows.num_classes, [](const MetricSums& sums) {
            const std::vector<double>&right = sums.at("right"), &all = sums.at("labels");
            double sum = 0;
            for (size_t i = 0; i < all.size(); ++i) sum += Quotient(right[i], all[i]);
            return sum / static_cast<double>(all.size());
          })};
}

Metric MeanIoU(const Tensor& labels, const Tensor& predictions, const ClassOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "MeanIoU";
  const ClassRows rows = RowsOf(kOp, labels, predictions, options, loc);
  if (rows.graph == nullptr) return frontends::Failed(rows.failed);
  NameScope scope(rows.graph, rows.graph->UniqueName("mean_io_u"));
  Tensor weights = ReduceSum(rows.labels, {-1}, true, loc);
  return {.sums = {{"both", ReduceSum(Mul(rows.labels, rows.predictions, loc), {0}, false, loc)},
                   {"labels", ReduceSum(rows.labels, {0}, false, loc)},
                   {"predictions", ReduceSum(Mul(rows.predictions, weights, loc), {0}, false, loc)},
                   {"outside", rows.outside}},
          .result = OfKnownClasses(kOp, rows.num_classes, [](const MetricSums& sums) {
            const std::vector<double>& both = sums.at("both");
            double sum = 0, classes = 0;
            for (size_t i = 0; i < both.size(); ++i) {
              const double either = sums.at("labels")[i] + sums.at("predictions")[i] - both[i];
              sum += Quotient(both[i], either);
              classes += either != 0;
            }
            return Quotient(sum, classes);
          })};
}

}  // namespace tandem::metrics
