// Metrics for two classes, with one threshold or many.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "frontends/metric_parts.h"
#include "frontends/metrics.h"
#include "frontends/score_uses.h"
#include "graph/ops.h"

namespace tandem::metrics {
namespace {

using frontends::Quotient;
using frontends::ScalarConstant;

// Labels and predictions of all elements with their weights, each float64 [b, n].
struct Elements {
  GraphBuilder* graph = nullptr;  // null after an error; then return Failed(failed)
  Tensor actual;                  // the labels, 0 or 1
  Tensor predicted;               // the predictions, 0 or 1; not set for curves
  Tensor scores;                  // set only for curves, in the predictions' own type
  Tensor weights;
  Tensor failed;
};

// Returns x with two dimensions: [b] becomes [b, 1], and [b, x, y] becomes [b, x y].
Tensor AsMatrix(const Tensor& x, SourceLocation loc) {
  const Shape shape = x.shape();
  if (shape.size() == 2) return x;
  return Reshape(x, {kBatch, NumElements(absl::MakeConstSpan(shape).subspan(1))}, loc);
}

Elements ElementsOf(const char* op, const Tensor& labels, const Tensor& predictions, const Tensor& weights,
                    SourceLocation loc) {
  Elements elements;
  // Booleans and integers are treated as scores of 0 and 1.
  Tensor scores = predictions;
  if (predictions.ok() && !frontends::IsFloat(predictions.dtype())) scores = Cast(predictions, DType::kFloat64, loc);
  frontends::AlignedPair pair = frontends::AlignPair(op, labels, "predictions", scores, loc, /*min_rank=*/1);
  elements.failed = pair.failed;
  if (pair.graph == nullptr) return elements;
  Tensor w = frontends::DoubleWeights(op, weights, pair.predictions, loc);
  elements.failed = w;
  if (!w.ok()) return elements;
  elements.graph = pair.graph;
  elements.weights = AsMatrix(w, loc);
  elements.scores = AsMatrix(pair.predictions, loc);
  Tensor zero = ScalarConstant(pair.graph, 0, pair.labels.dtype(), loc);
  elements.actual = Cast(NotEqual(AsMatrix(pair.labels, loc), zero, loc), DType::kFloat64, loc);
  return elements;
}

Elements AtThreshold(const char* op, const Tensor& labels, const Tensor& predictions, const Tensor& weights,
                     double threshold, SourceLocation loc) {
  Elements elements = ElementsOf(op, labels, predictions, weights, loc);
  if (elements.graph == nullptr) return elements;
  if (!std::isfinite(threshold)) {
    elements.failed = elements.graph->FailAt(op, absl::StrCat("`threshold` must be a number, got ", threshold), loc);
    elements.graph = nullptr;
    return elements;
  }
  if (threshold > 0 && threshold < 1) {
    NoteScores(ScoreKind::kThresholded, op, predictions,
               absl::StrCat("pass their Sigmoid, or a threshold for logits in place of ", threshold), loc);
  }
  Tensor limit = ScalarConstant(elements.graph, threshold, elements.scores.dtype(), loc);
  elements.predicted = Cast(Greater(elements.scores, limit, loc), DType::kFloat64, loc);
  return elements;
}

// Converts labels that are class numbers, and scores of the classes, to elements [b, classes].
Elements OfClasses(const char* op, const Tensor& labels, const Tensor& predictions, const Tensor& weights,
                   SourceLocation loc) {
  Elements elements;
  const frontends::ClassIndices classes = frontends::FindClasses(op, labels, predictions, 0, loc);
  elements.failed = classes.labels;
  if (!classes.ok()) return elements;
  Tensor w = frontends::DoubleWeights(op, weights, classes.labels, loc);
  elements.failed = w;
  if (!w.ok()) return elements;
  elements.graph = w.graph();
  elements.actual = OneHot(classes.labels, classes.num_classes, DType::kFloat64, loc);
  elements.predicted = OneHot(classes.predictions, classes.num_classes, DType::kFloat64, loc);
  elements.weights = Broadcast(Reshape(w, {kBatch, 1}, loc), {kBatch, classes.num_classes}, loc);
  return elements;
}

// Returns a metric: the weight of the elements whose label is `actual` and that are predicted to be `predicted`.
Metric Cell(const char* op, const char* scope_name, bool actual, bool predicted, const Tensor& labels,
            const Tensor& predictions, const ThresholdOptions& options, SourceLocation loc) {
  const Elements e = AtThreshold(op, labels, predictions, options.weights, options.threshold, loc);
  if (e.graph == nullptr) return frontends::Failed(e.failed);
  NameScope scope(e.graph, e.graph->UniqueName(scope_name));
  auto is = [&](const Tensor& x, bool wanted) { return wanted ? x : Add(Neg(x, loc), 1.0, loc); };
  Tensor sum =
      ReduceSum(Mul(Mul(is(e.actual, actual), is(e.predicted, predicted), loc), e.weights, loc), {}, false, loc);
  return {.sums = {{"sum", sum}}, .result = [](const MetricSums& sums) { return sums.at("sum")[0]; }};
}

double FBeta(double both, double predicted, double actual, double beta) {
  // This is (1 + b^2) P R / (b^2 P + R) with precision P = both / predicted and recall R = both / actual, multiplied
  // out.
  return Quotient((1 + beta * beta) * both, beta * beta * actual + predicted);
}

// Computes a label's score from three weights: of elements that are 1 and predicted to be 1 (`both`), of elements
// predicted to be 1, and of elements that are 1.
using Score = std::function<double(double both, double predicted, double actual)>;

absl::StatusOr<MetricValue> Averaged(const MetricSums& sums, Average average, const Score& score) {
  const std::vector<double>&both = sums.at("both"), &predicted = sums.at("predicted"), &actual = sums.at("actual");
  double all_both = 0, all_predicted = 0, all_actual = 0, sum = 0, weighted = 0;
  std::vector<double> scores;
  for (size_t i = 0; i < both.size(); ++i) {
    scores.push_back(score(both[i], predicted[i], actual[i]));
    all_both += both[i];
    all_predicted += predicted[i];
    all_actual += actual[i];
    sum += scores.back();
    weighted += scores.back() * actual[i];
  }
  switch (average) {
    case Average::kMicro:
      return score(all_both, all_predicted, all_actual);
    case Average::kMacro:
      return sum / static_cast<double>(scores.size());
    case Average::kWeighted:
      return Quotient(weighted, all_actual);
    case Average::kNone:
      break;
  }
  return HostTensor::FromVector<double>({static_cast<int64_t>(scores.size())}, scores);
}

Metric ScoreOf(const char* op, const char* scope_name, const Tensor& labels, const Tensor& predictions,
               const ScoreOptions& options, SourceLocation loc, Score score) {
  // True if labels are class numbers and predictions have a column of scores for each class.
  const bool classes = labels.ok() && predictions.ok() && predictions.rank() == 2 && predictions.shape()[1] > 1 &&
                       (labels.rank() == 1 || (labels.rank() == 2 && labels.shape()[1] == 1));
  const Elements e = classes ? OfClasses(op, labels, predictions, options.weights, loc)
                             : AtThreshold(op, labels, predictions, options.weights, options.threshold, loc);
  if (e.graph == nullptr) return frontends::Failed(e.failed);
  if (!(options.beta > 0) || !std::isfinite(options.beta)) {
    return frontends::Failed(
        e.graph->FailAt(op, absl::StrCat("`beta` must be a positive number, got ", options.beta), loc));
  }
  NameScope scope(e.graph, e.graph->UniqueName(scope_name));
  Tensor predicted = Mul(e.predicted, e.weights, loc);
  return {.sums = {{"both", ReduceSum(Mul(e.actual, predicted, loc), {0}, false, loc)},
                   {"predicted", ReduceSum(predicted, {0}, false, loc)},
                   {"actual", ReduceSum(Mul(e.actual, e.weights, loc), {0}, false, loc)}},
          .result = [average = options.average, score = std::move(score)](const MetricSums& sums) {
            return Averaged(sums, average, score);
          }};
}

// Counts of one label. For each threshold, the true and the false positives among the elements with predictions above
// it; and the positives and negatives among all elements. In the sums of a metric, thresholds are the last dimension,
// after the labels if these are counted separately.
struct Counts {
  std::vector<double> true_positives, false_positives;  // one number for each threshold
  double positives = 0, negatives = 0;
};

Counts CountsOf(const MetricSums& sums, size_t label) {
  Counts counts;
  const size_t labels = sums.at("positives").size(), thresholds = sums.at("true_positives").size() / labels;
  auto part = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + label * thresholds, all.begin() + (label + 1) * thresholds);
  };
  counts.true_positives = part(sums.at("true_positives"));
  counts.false_positives = part(sums.at("false_positives"));
  counts.positives = sums.at("positives")[label];
  counts.negatives = sums.at("negatives")[label];
  return counts;
}

// Returns the n thresholds 0, 1 / (n - 1), ..., 1. `around` is subtracted from the first and added to the last.
std::vector<double> EvenThresholds(int64_t n, double around) {
  std::vector<double> thresholds;
  for (int64_t i = 0; i < n; ++i) thresholds.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  thresholds.front() -= around;
  thresholds.back() += around;
  return thresholds;
}

constexpr int64_t kMaxThresholds = 100000;

// Returns a metric computed from the counts at `num_thresholds` thresholds.
Metric CurveMetric(const char* op, const char* scope_name, const Tensor& labels, const Tensor& predictions,
                   const Tensor& weights, int64_t num_thresholds, double around, bool by_label, SourceLocation loc,
                   MetricResult result) {
  const Elements e = ElementsOf(op, labels, predictions, weights, loc);
  if (e.graph == nullptr) return frontends::Failed(e.failed);
  if (num_thresholds < 3 || num_thresholds > kMaxThresholds) {
    return frontends::Failed(e.graph->FailAt(
        op, absl::StrCat("`num_thresholds` must be in [3, ", kMaxThresholds, "], got ", num_thresholds), loc));
  }
  NoteScores(ScoreKind::kThresholded, op, predictions, "pass their Sigmoid", loc);
  NameScope scope(e.graph, e.graph->UniqueName(scope_name));
  const int64_t n = e.scores.shape()[1];
  std::vector<float> limits;
  for (double t : EvenThresholds(num_thresholds, around)) limits.push_back(static_cast<float>(t));
  Tensor thresholds = e.graph->Constant(HostTensor::FromVector<float>({num_thresholds}, limits), loc);
  if (e.scores.dtype() != DType::kFloat32) thresholds = Cast(thresholds, e.scores.dtype(), loc);
  Tensor above = Cast(Greater(Reshape(e.scores, {kBatch, n, 1}, loc), thresholds, loc), DType::kFloat64, loc);
  Tensor positive = Mul(e.actual, e.weights, loc), negative = Sub(e.weights, positive, loc);
  const std::vector<int64_t> over = by_label ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 1};
  auto sum_above = [&](const Tensor& part) {
    return ReduceSum(Mul(above, Reshape(part, {kBatch, n, 1}, loc), loc), over, false, loc);
  };
  Tensor inside = And(GreaterEqual(e.scores, ScalarConstant(e.graph, 0, e.scores.dtype(), loc), loc),
                      LessEqual(e.scores, ScalarConstant(e.graph, 1, e.scores.dtype(), loc), loc), loc);
  Tensor outside = ReduceSum(Cast(Not(inside, loc), DType::kFloat64, loc), {}, false, loc);
  return {.sums = {{"true_positives", sum_above(positive)},
                   {"false_positives", sum_above(negative)},
                   {"positives", ReduceSum(positive, over, false, loc)},
                   {"negatives", ReduceSum(negative, over, false, loc)},
                   {"outside", outside}},
          .result = [op = std::string(op),
                     result = std::move(result)](const MetricSums& sums) -> absl::StatusOr<MetricValue> {
            const double outside = sums.at("outside")[0];
            if (outside == 0) return result(sums);
            return absl::OutOfRangeError(
                absl::StrCat(op, ": ", outside, " predictions are not in [0, 1]; of logits take the Sigmoid"));
          }};
}

double PrecisionAt(const Counts& c, size_t i) {
  return Quotient(c.true_positives[i], c.true_positives[i] + c.false_positives[i]);
}

// As Keras' interpolate_pr_auc: between two thresholds, true positives are a linear function of all predicted
// positives.
double InterpolatedPrArea(const Counts& c) {
  double area = 0;
  for (size_t i = 0; i + 1 < c.true_positives.size(); ++i) {
    const double all = c.true_positives[i] + c.false_positives[i];
    const double next = c.true_positives[i + 1] + c.false_positives[i + 1];
    const double hits = c.true_positives[i] - c.true_positives[i + 1];
    const double slope = Quotient(hits, std::max(all - next, 0.0));
    const double intercept = c.true_positives[i + 1] - slope * next;
    const double ratio = all > 0 && next > 0 ? all / next : 1;
    area += Quotient(slope * (hits + intercept * std::log(ratio)), c.positives);
  }
  return area;
}

double Area(const Counts& c, Curve curve, Summation summation) {
  if (curve == Curve::kPR && summation == Summation::kInterpolation) return InterpolatedPrArea(c);
  std::vector<double> x, y;
  for (size_t i = 0; i < c.true_positives.size(); ++i) {
    const double recall = Quotient(c.true_positives[i], c.positives);
    x.push_back(curve == Curve::kROC ? Quotient(c.false_positives[i], c.negatives) : recall);
    y.push_back(curve == Curve::kROC ? recall : PrecisionAt(c, i));
  }
  double area = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double height = summation == Summation::kInterpolation ? (y[i] + y[i + 1]) / 2
                          : summation == Summation::kMinoring    ? std::min(y[i], y[i + 1])
                                                                 : std::max(y[i], y[i + 1]);
    area += (x[i] - x[i + 1]) * height;
  }
  return area;
}

// Returns the metric that is the best precision (or recall) among the thresholds at which the other of the two is at
// least `at`.
Metric Constrained(const char* op, const char* scope_name, const Tensor& labels, const Tensor& predictions,
                   const ConstraintOptions& options, bool best_precision, SourceLocation loc) {
  if (!(options.at >= 0 && options.at <= 1) && predictions.ok()) {
    return frontends::Failed(
        predictions.graph()->FailAt(op, absl::StrCat("`at` must be in [0, 1], got ", options.at), loc));
  }
  return CurveMetric(op, scope_name, labels, predictions, options.weights, options.num_thresholds, /*around=*/0,
                     /*by_label=*/false, loc, [best_precision, at = options.at](const MetricSums& sums) {
                       const Counts c = CountsOf(sums, 0);
                       double best = 0;
                       for (size_t i = 0; i < c.true_positives.size(); ++i) {
                         const double recall = Quotient(c.true_positives[i], c.positives);
                         const double precision = PrecisionAt(c, i);
                         if ((best_precision ? recall : precision) < at) continue;
                         best = std::max(best, best_precision ? precision : recall);
                       }
                       return best;
                     });
}

}  // namespace

Metric TruePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options,
                     SourceLocation loc) {
  return Cell("TruePositives", "true_positives", true, true, labels, predictions, options, loc);
}

Metric FalsePositives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options,
                      SourceLocation loc) {
  return Cell("FalsePositives", "false_positives", false, true, labels, predictions, options, loc);
}

Metric TrueNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options,
                     SourceLocation loc) {
  return Cell("TrueNegatives", "true_negatives", false, false, labels, predictions, options, loc);
}

Metric FalseNegatives(const Tensor& labels, const Tensor& predictions, const ThresholdOptions& options,
                      SourceLocation loc) {
  return Cell("FalseNegatives", "false_negatives", true, false, labels, predictions, options, loc);
}

Metric Precision(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options, SourceLocation loc) {
  return ScoreOf("Precision", "precision", labels, predictions, options, loc,
                 [](double both, double predicted, double) { return Quotient(both, predicted); });
}

Metric Recall(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options, SourceLocation loc) {
  return ScoreOf("Recall", "recall", labels, predictions, options, loc,
                 [](double both, double, double actual) { return Quotient(both, actual); });
}

Metric F1(const Tensor& labels, const Tensor& predictions, const ScoreOptions& options, SourceLocation loc) {
  return ScoreOf("F1", "f1", labels, predictions, options, loc,
                 [beta = options.beta](double both, double predicted, double actual) {
                   return FBeta(both, predicted, actual, beta);
                 });
}

Metric AUC(const Tensor& labels, const Tensor& predictions, const AucOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "AUC";
  std::vector<double> weights = options.label_weights;
  if (predictions.ok() && !weights.empty()) {
    const int64_t n = predictions.rank() == 2 ? predictions.shape()[1] : 1;
    bool good = options.multi_label && static_cast<int64_t>(weights.size()) == n;
    for (double w : weights) good = good && w >= 0 && std::isfinite(w);
    if (!good) {
      return frontends::Failed(predictions.graph()->FailAt(
          kOp,
          absl::StrCat("`label_weights` must be ", n, " numbers of at least 0, with `multi_label` set; got ",
                       weights.size(), options.multi_label ? "" : " without it"),
          loc));
    }
  }
  // As in Keras, the outer thresholds of this curve are moved outwards by epsilon, so that every prediction lies
  // between them.
  return CurveMetric(kOp, "auc", labels, predictions, options.weights, options.num_thresholds, /*around=*/1e-7,
                     options.multi_label, loc,
                     [curve = options.curve, summation = options.summation, weights](const MetricSums& sums) {
                       const size_t labels = sums.at("positives").size();
                       double area = 0, total = 0;
                       for (size_t i = 0; i < labels; ++i) {
                         const double weight = weights.empty() ? 1 : weights[i];
                         area += weight * Area(CountsOf(sums, i), curve, summation);
                         total += weight;
                       }
                       return Quotient(area, total);
                     });
}

Metric PrecisionAtRecall(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options,
                         SourceLocation loc) {
  return Constrained("PrecisionAtRecall", "precision_at_recall", labels, predictions, options, true, loc);
}

Metric RecallAtPrecision(const Tensor& labels, const Tensor& predictions, const ConstraintOptions& options,
                         SourceLocation loc) {
  return Constrained("RecallAtPrecision", "recall_at_precision", labels, predictions, options, false, loc);
}

}  // namespace tandem::metrics
