// Metrics as sums over a batch. The host adds the sums of all batches in double precision and computes the metric from
// them at the end. So the result is exact over the whole set: every example counts the same, for any number of devices
// and any size of the last batch.
//
//   return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, logits)},
//                                     {"auc", metrics::AUC(clicked, probability)}});
//
// A user's metric consists of sums and a function that computes the metric from them:
//   Tensor e = Cast(predictions - labels, DType::kFloat64), y = Cast(labels, DType::kFloat64);
//   Metric fit{.sums = {{"errors", ReduceSum(Square(e))}, {"squares", ReduceSum(Square(y))}},
//              .result = [](const MetricSums& s) { return 1 - s.at("errors")[0] / s.at("squares")[0]; }};
#ifndef TANDEM_FRONTENDS_METRICS_H_
#define TANDEM_FRONTENDS_METRICS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// The value of a metric: a number, or a float64 tensor such as a confusion matrix.
struct MetricValue {
  MetricValue(double number) : tensor(HostTensor::Scalar<double>(number)) {}  // NOLINT: implicit
  MetricValue(HostTensor value) : tensor(std::move(value)) {}                 // NOLINT: implicit
  HostTensor tensor;
};

// The name of each sum, with its elements in row-major order, added over all batches.
using MetricSums = std::map<std::string, std::vector<double>>;
// Computes a metric from its sums; an error ends the evaluation.
using MetricResult = std::function<absl::StatusOr<MetricValue>(const MetricSums& sums)>;

// A metric: a quotient of two sums, or any function of sums over the examples.
struct Metric {
  // Used without `result`: the metric is (sum of totals) / (sum of counts). Both are scalars of a number type, summed
  // over the global batch, and are checked like `sums`. The metrics in this file sum in float64, except counts that are
  // known without a sum.
  Tensor total;
  Tensor count;
  // Used with `result`: the tensors whose sums over all batches are passed to it. They may have any shape but no batch
  // axis, and any number type (float64 keeps the sums of large batches exact). Each must be a sum over the global
  // batch, such as ReduceSum(x, {0}). A mean or a maximum over the batch is rejected, because such values of several
  // batches do not add up.
  std::map<std::string, Tensor> sums = {};
  // Computes the metric from the sums. It is called once, on the host, after the last batch.
  MetricResult result = nullptr;

  // True if none of its tensors is poisoned.
  bool ok() const;
};

namespace metrics {

// Labels are class numbers, integers [b] or [b, 1], or one-hot [b, classes]. Predictions are class numbers [b], such as
// ArgMax(logits, -1), or scores [b, classes], where the class with the largest score is the predicted one.

struct MetricOptions {
  Tensor weights;  // weight of each example, [b]; empty means that all are 1
};

// The share of examples with a right prediction; for sequences and pictures the share of positions: labels [b, ...] or
// one-hot [b, ..., classes], predictions integers [b, ...] or scores [b, ..., classes], floating-point. `weights` may
// be [b, ...], with 0 for padding. For probabilities of two classes, [b], use BinaryAccuracy.
Metric Accuracy(const Tensor& labels, const Tensor& predictions, const MetricOptions& options = {},
                SourceLocation loc = SourceLocation::Current());
struct TopKOptions {
  Tensor weights;
  int64_t k = 5;
};
// The share of examples for which fewer than `k` classes have a higher score than the label; predictions are scores. If
// the label's score is not finite, the prediction is wrong.
Metric TopKAccuracy(const Tensor& labels, const Tensor& predictions, const TopKOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());
struct ClassOptions {
  Tensor weights;
  // Required if neither labels nor predictions have a column for each class.
  int64_t num_classes = 0;
};
// [classes, classes]: element [i, j] is the weight of the examples of class i that are predicted as class j. A label or
// prediction that is no class is an error of the evaluation, here and in the next two metrics.
Metric ConfusionMatrix(const Tensor& labels, const Tensor& predictions, const ClassOptions& options = {},
                       SourceLocation loc = SourceLocation::Current());
// The mean over all classes of the share of a class' examples that are predicted right. A class without examples counts
// as 0, as in tf.metrics.mean_per_class_accuracy.
Metric MeanPerClassAccuracy(const Tensor& labels, const Tensor& predictions, const ClassOptions& options = {},
                            SourceLocation loc = SourceLocation::Current());
// For each class, the number of examples that both label and prediction put in the class (intersection), divided by the
// number that label or prediction puts there (union). The metric is the mean over the classes that occur, as in Keras.
Metric MeanIoU(const Tensor& labels, const Tensor& predictions, const ClassOptions& options = {},
               SourceLocation loc = SourceLocation::Current());

// The mean of `values` ([b] or [b, ...]), weighted per example and summed in float64: integers count exactly as long as
// they and their sum are below 2^53. Values without the batch, such as means over it, are weighted by the number of
// examples in their batch; a scalar cannot have `weights`.
Metric Mean(const Tensor& values, const MetricOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Errors of predictions. Labels and predictions have the same shape, except that [b] and [b, 1] match. The metrics are
// means over all elements; `weights` are [b] or have the same shape.
Metric MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());
Metric MeanSquaredError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());
// The square root of the mean squared error of the whole set.
Metric RootMeanSquaredError(const Tensor& labels, const Tensor& predictions, const MetricOptions& options = {},
                            SourceLocation loc = SourceLocation::Current());
// The mean cosine of the angle between the rows of labels and predictions, [b, n] or of higher rank.
Metric CosineSimilarity(const Tensor& labels, const Tensor& predictions, const MetricOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());

// The remaining metrics are for two classes: labels are 0 or not 0; predictions are numbers, and above a threshold they
// predict 1. Both are [b] or [b, 1], or [b, n] for several labels per example. A quotient without examples is 0, as in
// Keras, except for BinaryAccuracy, which is NaN like every mean.

struct ThresholdOptions {
  Tensor weights;
  double threshold = 0.5;
};
// The share of elements whose prediction is on the same side of the threshold as the label.
Metric BinaryAccuracy(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());
// The weight of the elements whose label is 1 (or 0) and whose prediction is right (or wrong), as the names say. With
// several labels per example, the sum over the labels.
Metric TruePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                     SourceLocation loc = SourceLocation::Current());
Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());
Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                     SourceLocation loc = SourceLocation::Current());
Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());

// How the scores of several labels [b, n], or of the classes if labels are class numbers, are combined.
enum class Average : int8_t {
  kMicro,     // the score of the counts of all labels together, as Keras' Precision and Recall
  kMacro,     // the mean of the scores of all labels
  kWeighted,  // the mean of the scores, weighted by how often each label is 1
  kNone,      // one score for each label, [n]; the default of Keras' F1Score
};
struct ScoreOptions {
  Tensor weights;
  // Ignored if labels are class numbers: then the class with the largest score is the predicted one.
  double threshold = 0.5;
  Average average = Average::kMicro;
  // Only for F1, which becomes F-beta: the importance of recall relative to precision; positive.
  double beta = 1;
};
// The share of elements predicted to be 1 that are 1.
Metric Precision(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options = {},
                 SourceLocation loc = SourceLocation::Current());
// The share of elements that are 1 that are predicted to be 1.
Metric Recall(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options = {},
              SourceLocation loc = SourceLocation::Current());
// (1 + beta^2) P R / (beta^2 P + R), where P is precision and R recall.
Metric F1(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options = {},
          SourceLocation loc = SourceLocation::Current());

// True over false positive rates, or precision over recall.
enum class Curve : int8_t { kROC, kPR };
// How the area under a curve is added up.
enum class Summation : int8_t {
  kInterpolation,  // ROC uses trapezoids; PR interpolates true positives as in Davis and Goadrich 2006
  kMinoring,       // sums rectangles below the curve
  kMajoring,       // sums rectangles above the curve
};
struct AucOptions {
  Tensor weights;
  Curve curve = Curve::kROC;
  Summation summation = Summation::kInterpolation;
  int64_t num_thresholds = 200;  // number of thresholds, spread evenly from 0 to 1; at least 3
  // If true, predictions are [b, n], and the result is the mean of the areas of the n labels, not one area for all.
  bool multi_label = false;
  std::vector<double> label_weights = {};  // weights in the mean over labels, one per label; empty means that all are 1
};
// The area under the curve of true over false positive rates (ROC) or of precision over recall (PR), by the values at
// `num_thresholds` thresholds. Predictions are in [0, 1]; others are an error of the evaluation. The formulas are those
// of tf.keras.metrics.AUC.
Metric AUC(const Tensor& labels, const Tensor& predictions, const AucOptions& options = {},
           SourceLocation loc = SourceLocation::Current());

struct ConstraintOptions {
  Tensor weights;
  double at = 0.5;               // the recall or precision that must be reached, in [0, 1]
  int64_t num_thresholds = 200;  // number of thresholds, spread evenly from 0 to 1; at least 3
};
// The best precision among the thresholds at which recall is at least `at`; 0 if there is no such threshold.
// Predictions are in [0, 1].
Metric PrecisionAtRecall(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());
// The best recall among the thresholds at which precision is at least `at`.
Metric RecallAtPrecision(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());

struct PercentileOptions {
  Tensor weights;
  std::vector<double> percentiles = {50};  // shares of the values in percent, in [0, 100]
  double low = 0, high = 1;                // range of the histogram; values outside count as the nearer end
  int64_t bins = 1000;
};
// The values ([b] or [b, ...]) below which the given shares of all values lie: one number, or a vector for several
// percentiles. They are computed from a histogram, so the error is at most the width of a bin, (high - low) / bins. The
// result is NaN if a value is NaN.
Metric Percentiles(const Tensor& values, const PercentileOptions& options = {},
                   SourceLocation loc = SourceLocation::Current());

}  // namespace metrics
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_METRICS_H_
