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
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

// The value of a metric: a number, or a float64 tensor such as a confusion matrix.
struct MetricValue {
  MetricValue(double number) : tensor(HostTensor::Scalar<double>(number)) {}  // NOLINT: implicit
  MetricValue(HostTensor value) : tensor(std::move(value)) {}                 // NOLINT: implicit
  HostTensor tensor;
};

// Name of a sum -> its elements, added over all batches, row-major.
using MetricSums = std::map<std::string, std::vector<double>>;
using MetricResult = std::function<absl::StatusOr<MetricValue>(const MetricSums& sums)>;

// A quotient of two sums, or any function of sums.
struct Metric {
  // Without `result`: the metric is (sum of totals) / (sum of counts). Both are scalars of a number type, summed over
  // the global batch, and are checked like `sums`. The metrics in this file sum in float64, except counts that are
  // known without a sum.
  Tensor total;
  Tensor count;
  // With `result`: the state, tensors of any shape but without the batch, of a number type (float64 keeps the sums of
  // large batches exact). Each is a sum over the global batch, such as ReduceSum(x, {0}); a mean or a maximum over the
  // batch is refused, since the values of several batches do not add up.
  std::map<std::string, Tensor> sums = {};
  // Called once, on the host, after the last batch.
  MetricResult result = nullptr;

  bool ok() const;
};

namespace metrics {

// Labels are class numbers, integers [b] or [b, 1], or one-hot [b, classes]; predictions are class numbers [b]
// (ArgMax(logits, -1)) or scores [b, classes], where the largest counts.

struct MetricOptions {
  Tensor weights;  // weight of each example, [b]; empty: all 1
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
// For each class, the intersection of its labels and its predictions over their union; the mean over the classes that
// occur, as in Keras.
Metric MeanIoU(const Tensor& labels, const Tensor& predictions, const ClassOptions& options = {},
               SourceLocation loc = SourceLocation::Current());

// The mean of `values` ([b] or [b, ...]), weighted per example and summed in float64: integers count exactly as long as
// they and their sum are below 2^53. Values without the batch, such as means over it, are weighted by the number of
// examples in their batch; a scalar cannot have `weights`.
Metric Mean(const Tensor& values, const MetricOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Errors of predictions: labels and predictions have the same shape, but [b] and [b, 1] match. Means over all elements;
// `weights` are [b] or have the same shape.
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
// The weight of the elements that are, and are predicted to be, 1 or 0. With several labels their sum.
Metric TruePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                     SourceLocation loc = SourceLocation::Current());
Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());
Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                     SourceLocation loc = SourceLocation::Current());
Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());

// The average over the labels of [b, n], or over the classes of scores [b, classes] if labels are class numbers.
enum class Average : int8_t {
  kMicro,     // from the counts of all labels together, as Keras' Precision and Recall
  kMacro,     // the mean of the values of all labels
  kWeighted,  // the mean weighted by how often each label is 1
  kNone,      // all values, [n], the default of Keras' F1Score
};
struct ScoreOptions {
  Tensor weights;
  double threshold = 0.5;  // ignored for class numbers as labels, where the largest score counts
  Average average = Average::kMicro;
  double beta = 1;  // only for F1, which becomes F-beta: the importance of recall relative to precision; positive
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

enum class Curve : int8_t { kROC, kPR };
enum class Summation : int8_t {
  kInterpolation,  // ROC: trapezoids; PR: as Davis and Goadrich 2006 interpolate between true positives
  kMinoring,       // rectangles below the curve
  kMajoring,       // rectangles above the curve
};
struct AucOptions {
  Tensor weights;
  Curve curve = Curve::kROC;
  Summation summation = Summation::kInterpolation;
  int64_t num_thresholds = 200;  // at least 3, evenly from 0 to 1
  bool multi_label = false;      // for [b, n]: the mean of the areas of the n labels, not the area of all together
  std::vector<double> label_weights = {};  // weights of that mean, one per label; empty: all 1
};
// The area under the curve of true over false positive rates (ROC) or of precision over recall (PR), by the values at
// `num_thresholds` thresholds. Predictions are in [0, 1]; others are an error of the evaluation. The formulas are those
// of tf.keras.metrics.AUC.
Metric AUC(const Tensor& labels, const Tensor& predictions, const AucOptions& options = {},
           SourceLocation loc = SourceLocation::Current());

struct ConstraintOptions {
  Tensor weights;
  double at = 0.5;               // the value that the other quantity must reach, in [0, 1]
  int64_t num_thresholds = 200;  // at least 3, evenly from 0 to 1
};
// The best precision at a threshold where recall is `at` or more; 0 if there is none. Predictions are in [0, 1].
Metric PrecisionAtRecall(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());
// The best recall at a threshold where precision is `at` or more.
Metric RecallAtPrecision(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());

struct PercentileOptions {
  Tensor weights;
  std::vector<double> percentiles = {50};  // in [0, 100]
  double low = 0, high = 1;                // values outside count as the nearer end
  int64_t bins = 1000;
};
// The values ([b] or [b, ...]) below which the given shares of all values lie: one number, or a vector for several
// percentiles. Computed from a histogram: the error is at most the width of a bin, (high - low) / bins. NaN if a value
// is.
Metric Percentiles(const Tensor& values, const PercentileOptions& options = {},
                   SourceLocation loc = SourceLocation::Current());

}  // namespace metrics
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_METRICS_H_
