// Metrics of nothing: no example that counts, no positive label or prediction, rows of length 0, numbers that are none.
#include <map>
#include <string>
#include <vector>

#include "estimator/evaluation/metric_accumulator.h"
#include "frontends/metrics.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"
#include "tests/oracle/singular_points.h"

namespace tandem::oracle {
namespace {

using namespace metrics;  // NOLINT: what the test is about

constexpr int64_t kExamples = 4;

struct MetricRow {
  std::string name;
  // Of float32 labels and predictions [b], or [b, n] where there are n numbers for each example, and weights [b].
  std::function<Metric(const Tensor& labels, const Tensor& predictions, const Tensor& weights)> metric;
  Numbers labels, predictions, weights;
  double value;
  std::string source;
};

const Numbers kNothing = {0, 0, 0, 0}, kEach = {1, 1, 1, 1}, kBoth = {0, 1, 0, 1}, kSure = {0, 1, 0, 1},
              kFalse = {1, 0, 1, 0}, kHalf = {0.5, 0.5, 0.5, 0.5};
const char kNoExample[] = "a mean of nothing is NaN: NumPy (Keras has 0)";
const char kQuotient[] = "a quotient of nothing is 0: Keras, scikit-learn";

Tensor Classes(const Tensor& x) { return Cast(x, DType::kInt32); }

std::vector<MetricRow> TwoClassRows() {
  auto precision = [](auto& y, auto& p, auto& w) { return metrics::Precision(y, p, {.weights = w}); };
  auto recall = [](auto& y, auto& p, auto& w) { return Recall(y, p, {.weights = w}); };
  auto f1 = [](auto& y, auto& p, auto& w) { return F1(y, p, {.weights = w}); };
  auto auc = [](auto& y, auto& p, auto& w) { return AUC(y, p, {.weights = w}); };
  auto pr = [](auto& y, auto& p, auto& w) { return AUC(y, p, {.weights = w, .curve = Curve::kPR}); };
  auto precision_at = [](auto& y, auto& p, auto& w) { return PrecisionAtRecall(y, p, {.weights = w}); };
  auto recall_at = [](auto& y, auto& p, auto& w) { return RecallAtPrecision(y, p, {.weights = w}); };
  return {
      {"precision_of_no_prediction", precision, kBoth, kNothing, kEach, 0, kQuotient},
      {"precision_of_no_weight", precision, kBoth, kSure, kNothing, 0, kQuotient},
      {"recall_of_no_positive", recall, kNothing, kSure, kEach, 0, kQuotient},
      {"recall_of_no_weight", recall, kBoth, kSure, kNothing, 0, kQuotient},
      {"f1_of_neither", f1, kNothing, kNothing, kEach, 0, kQuotient},
      {"f1_of_no_hit", f1, kBoth, kFalse, kEach, 0, kQuotient},
      {"auc_of_no_positive", auc, kNothing, kBoth, kEach, 0, kQuotient},
      {"auc_of_no_negative", auc, kEach, kBoth, kEach, 0, kQuotient},
      {"auc_of_no_weight", auc, kBoth, kSure, kNothing, 0, kQuotient},
      {"auc_of_sure_predictions", auc, kBoth, kSure, kEach, 1, "calculus"},
      {"auc_of_false_predictions", auc, kBoth, kFalse, kEach, 0, "calculus"},
      {"auc_of_equal_predictions", auc, kBoth, kHalf, kEach, 0.5, "calculus: the trapezoid from (0, 0) to (1, 1)"},
      {"pr_auc_of_no_positive", pr, kNothing, kBoth, kEach, 0, kQuotient},
      {"pr_auc_of_no_weight", pr, kBoth, kSure, kNothing, 0, kQuotient},
      {"pr_auc_of_sure_predictions", pr, kBoth, kSure, kEach, 1, "calculus"},
      {"precision_at_recall_of_no_positive", precision_at, kNothing, kBoth, kEach, 0, kQuotient},
      {"recall_at_precision_of_no_positive", recall_at, kNothing, kBoth, kEach, 0, kQuotient},
      {"binary_accuracy_of_no_weight", [](auto& y, auto& p, auto& w) { return BinaryAccuracy(y, p, {.weights = w}); },
       kBoth, kSure, kNothing, kNaN, kNoExample},
      {"binary_accuracy_of_no_number",
       [](auto& y, auto& p, auto& w) { return BinaryAccuracy(y, p, {.weights = w}); },
       kEach,
       {kNaN, kInf, -kInf, 1},
       kEach,
       0.5,
       "IEEE 754: NaN is not above the threshold"},
  };
}

std::vector<MetricRow> MeanRows() {
  auto mean = [](auto&, auto& p, auto& w) { return Mean(p, {.weights = w}); };
  auto mse = [](auto& y, auto& p, auto& w) { return MeanSquaredError(y, p, {.weights = w}); };
  auto rmse = [](auto& y, auto& p, auto& w) { return RootMeanSquaredError(y, p, {.weights = w}); };
  auto cosine = [](auto& y, auto& p, auto& w) { return CosineSimilarity(y, p, {.weights = w}); };
  return {
      {"mean_of_no_weight", mean, kBoth, kEach, kNothing, kNaN, kNoExample},
      {"mean_of_infinity", mean, kBoth, {kInf, 0, 0, 0}, kEach, kInf, "IEEE 754"},
      {"mean_of_infinities", mean, kBoth, {kInf, -kInf, 0, 0}, kEach, kNaN, "IEEE 754"},
      {"mean_of_infinity_without_weight",
       mean,
       kBoth,
       {kInf, 1, 1, 1},
       {0, 1, 1, 1},
       kNaN,
       "Keras: a value is multiplied by its weight"},
      {"mean_of_the_largest",
       mean,
       kBoth,
       {kLargest, kLargest, kLargest, kLargest},
       kEach,
       kLargest,
       "calculus: sums are in double precision"},
      {"squared_error_of_nothing", mse, kBoth, kEach, kNothing, kNaN, kNoExample},
      {"squared_error_of_equals", mse, kBoth, kBoth, kEach, 0, "calculus"},
      {"root_of_nothing", rmse, kBoth, kEach, kNothing, kNaN, kNoExample},
      {"root_of_equals", rmse, kBoth, kBoth, kEach, 0, "calculus"},
      {"cosine_of_zero_rows",
       cosine,
       {0, 0, 1, 0, 0, 0, 1, 0},
       {1, 0, 0, 0, 0, 0, 1, 0},
       kEach,
       0.25,
       "Keras: the square of a length is at least 1e-12"},
      {"cosine_of_no_weight", cosine, {0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 0, 1, 0}, kNothing, kNaN, kNoExample},
      {"median_of_no_weight", [](auto&, auto& p, auto& w) { return Percentiles(p, {.weights = w}); }, kBoth, kBoth,
       kNothing, kNaN, "NumPy"},
      {"largest_of_infinities",
       [](auto&, auto& p, auto& w) { return Percentiles(p, {.weights = w, .percentiles = {100}}); },
       kBoth,
       {kInf, -kInf, 0.5, 0.5},
       kEach,
       1,
       "frontends/metrics.h: what is beyond the histogram counts as its nearer end"},
      {"median_of_no_number",
       [](auto&, auto& p, auto& w) { return Percentiles(p, {.weights = w}); },
       kBoth,
       {kNaN, 1, 1, 1},
       kEach,
       kNaN,
       "NumPy"},
  };
}

std::vector<MetricRow> ClassRows() {
  const Numbers scores = {1, 0, 1, 0, 1, 0, 1, 0};
  auto accuracy = [](auto& y, auto& p, auto& w) { return Accuracy(Classes(y), p, {.weights = w}); };
  return {
      {"accuracy_of_no_weight", accuracy, kBoth, scores, kNothing, kNaN, kNoExample},
      {"accuracy_of_equal_scores",
       accuracy,
       kNothing,
       {1, 1, 0, 0, -kInf, -kInf, kInf, kInf},
       kEach,
       1,
       "NumPy: argmax is the first of the largest"},
      {"top_1_of_masked_scores",
       [](auto& y, auto& p, auto& w) { return TopKAccuracy(Classes(y), p, {.weights = w, .k = 1}); },
       kNothing,
       {0, -kInf, -kInf, 0, kNaN, 0, kInf, 0},
       kEach,
       0.25,
       "tf.math.in_top_k: a score that is not finite is wrong"},
      {"mean_per_class_accuracy_of_one_class",
       [](auto& y, auto& p, auto& w) { return MeanPerClassAccuracy(Classes(y), p, {.weights = w}); }, kNothing, scores,
       kEach, 0.5, "tf.metrics.mean_per_class_accuracy: 0 of a class without examples"},
      {"mean_per_class_accuracy_of_no_weight",
       [](auto& y, auto& p, auto& w) { return MeanPerClassAccuracy(Classes(y), p, {.weights = w}); }, kBoth, scores,
       kNothing, 0, kQuotient},
      {"mean_iou_of_one_class", [](auto& y, auto& p, auto& w) { return MeanIoU(Classes(y), p, {.weights = w}); },
       kNothing, scores, kEach, 1, "Keras: the mean over the classes that occur"},
      {"mean_iou_of_no_weight", [](auto& y, auto& p, auto& w) { return MeanIoU(Classes(y), p, {.weights = w}); }, kBoth,
       scores, kNothing, 0, kQuotient},
  };
}

HostTensor OfExamples(const Numbers& numbers) {
  const int64_t width = static_cast<int64_t>(numbers.size()) / kExamples;
  return HostTensor::FromVector<float>(width > 1 ? Shape{kExamples, width} : Shape{kExamples},
                                       std::vector<float>(numbers.begin(), numbers.end()));
}

TEST(SingularPoints, OfMetrics) {
  std::vector<MetricRow> rows = TwoClassRows();
  for (auto family : {MeanRows, ClassRows}) {
    for (MetricRow& row : family()) rows.push_back(std::move(row));
  }
  TensorMap inputs;
  std::map<std::string, Metric> metrics;
  auto build = [&](GraphBuilder& g) {
    for (const MetricRow& row : rows) {
      auto input = [&](const char* what, const Numbers& numbers) {
        const std::string name = row.name + what;
        inputs[name] = OfExamples(numbers);
        Shape shape = inputs[name].shape();
        shape[0] = kBatch;
        return g.Input(name, DType::kFloat32, shape);
      };
      const Tensor labels = input("_labels", row.labels), predictions = input("_predictions", row.predictions),
                   weights = input("_weights", row.weights);
      const Metric metric = metrics[row.name] = row.metric(labels, predictions, weights);
      for (const std::string& sum : SumsOf(metric)) {
        g.Output(MetricSumName(row.name, sum),
                 metric.result ? metric.sums.at(sum) : (sum == "total" ? metric.total : metric.count));
      }
    }
    g.Output("loss", g.Constant(0.0f));
  };
  absl::StatusOr<compiled::Program> program = compiled::Prepare(build, {.batch = kExamples, .mode = "eval"});
  ASSERT_TRUE(program.ok()) << program.status();
  // An input that nothing reads is none of the program's.
  absl::StatusOr<StepResult> step = program->Run(compiled::Deal(*program, inputs, {kExamples}, 0));
  ASSERT_TRUE(step.ok()) << step.status();
  RunValues values;
  values.examples = kExamples;
  for (size_t i = 0; i < step->outputs.size(); ++i) {
    values.tensors[program->executable->index().outputs[i].name] = step->outputs[i];
  }
  MetricAccumulator accumulator(metrics);
  const absl::Status added = accumulator.Add(values);
  ASSERT_TRUE(added.ok()) << added;
  absl::StatusOr<EvalResult> result = accumulator.Result(0);
  ASSERT_TRUE(result.ok()) << result.status();
  for (const MetricRow& row : rows) {
    const double got = (*result)[row.name];
    EXPECT_TRUE(Agrees(got, row.value, 1e-6))
        << row.name << " is " << got << ", not " << row.value << " (" << row.source << ")";
  }
}

}  // namespace
}  // namespace tandem::oracle
