// Metrics of evaluation steps, compiled, against TensorFlow, scikit-learn and NumPy (make_metrics.py): 200 sets each,
// in batches of up to 6 rows, on one device and on three, the last batches short or empty on some.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/evaluation/metric_accumulator.h"
#include "frontends/metrics.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using namespace metrics;  // NOLINT: what the test is about

constexpr int64_t kRows = 6;  // of a batch: 1 x 6 or 3 x 2
constexpr int64_t kClasses = 4, kLabels = 3;
// Of the percentiles' histogram: from kLow to kHigh.
constexpr double kLow = -10, kHigh = 10;
constexpr int64_t kBins = 2000;

struct Inputs {
  explicit Inputs(GraphBuilder& g)
      : label(g.Input("label", DType::kInt32, {kBatch})),
        logits(g.Input("logits", DType::kFloat32, {kBatch, kClasses})),
        binary(g.Input("binary", DType::kInt32, {kBatch, kLabels})),
        probability(g.Input("probability", DType::kFloat32, {kBatch, kLabels})),
        real(g.Input("real", DType::kFloat32, {kBatch, kLabels})),
        predicted(g.Input("predicted", DType::kFloat32, {kBatch, kLabels})),
        weight(g.Input("weight", DType::kFloat32, {kBatch})) {}
  Tensor label, logits, binary, probability, real, predicted, weight;
};

std::map<std::string, Metric> All(const Inputs& in) {
  const Tensor &w = in.weight, &y = in.binary, &p = in.probability;
  return {
      {"accuracy", Accuracy(in.label, in.logits, {.weights = w})},
      {"top_2", TopKAccuracy(in.label, in.logits, {.weights = w, .k = 2})},
      {"confusion", ConfusionMatrix(in.label, in.logits, {.weights = w})},
      {"confusion_plain", ConfusionMatrix(in.label, in.logits)},
      {"mean_per_class_accuracy",
       MeanPerClassAccuracy(in.label, ArgMax(in.logits, -1), {.weights = w, .num_classes = kClasses})},
      {"mean_iou", MeanIoU(OneHot(in.label, kClasses), in.logits, {.weights = w})},
      {"mae", MeanAbsoluteError(in.real, in.predicted, {.weights = w})},
      {"mse", MeanSquaredError(in.real, in.predicted, {.weights = w})},
      {"rmse", RootMeanSquaredError(in.real, in.predicted, {.weights = w})},
      {"cosine", CosineSimilarity(in.real, in.predicted, {.weights = w})},
      {"binary_accuracy", BinaryAccuracy(y, p, {.weights = w, .threshold = 0.4})},
      {"true_positives", TruePositives(y, p, {.weights = w})},
      {"false_positives", FalsePositives(y, p, {.weights = w})},
      {"true_negatives", TrueNegatives(y, p, {.weights = w, .threshold = 0.3})},
      {"false_negatives", FalseNegatives(y, p, {.weights = w})},
      {"precision", metrics::Precision(y, p, {.weights = w})},
      {"recall", Recall(y, p, {.weights = w, .threshold = 0.6})},
      {"precision_macro", metrics::Precision(in.label, in.logits, {.weights = w, .average = Average::kMacro})},
      {"recall_by_label", Recall(y, p, {.weights = w, .average = Average::kNone})},
      {"f1_micro", F1(y, p, {.weights = w})},
      {"f1_macro", F1(in.label, in.logits, {.weights = w, .average = Average::kMacro})},
      {"f2_weighted", F1(in.label, in.logits, {.weights = w, .average = Average::kWeighted, .beta = 2})},
      {"f1_labels", F1(y, p, {.weights = w, .average = Average::kMacro})},
      {"auc", AUC(y, p, {.weights = w})},
      {"auc_minoring", AUC(y, p, {.weights = w, .summation = Summation::kMinoring, .num_thresholds = 20})},
      {"auc_majoring", AUC(y, p, {.weights = w, .summation = Summation::kMajoring, .num_thresholds = 20})},
      {"auc_pr", AUC(y, p, {.weights = w, .curve = Curve::kPR})},
      {"auc_pr_minoring", AUC(y, p, {.weights = w, .curve = Curve::kPR, .summation = Summation::kMinoring})},
      {"auc_labels", AUC(y, p, {.weights = w, .multi_label = true})},
      {"auc_labels_weighted",
       AUC(y, p, {.weights = w, .curve = Curve::kPR, .multi_label = true, .label_weights = {1, 2, 0.5}})},
      {"precision_at_recall", PrecisionAtRecall(y, p, {.weights = w, .at = 0.7})},
      {"recall_at_precision", RecallAtPrecision(y, p, {.weights = w, .at = 0.6, .num_thresholds = 50})},
      {"percentiles",
       Percentiles(in.real, {.percentiles = {0, 10, 50, 90, 100}, .low = kLow, .high = kHigh, .bins = kBins})},
  };
}

// The value of a metric as one list.
std::vector<double> ValueOf(const EvalResult& result, const std::string& name) {
  auto array = result.arrays.find(name);
  if (array == result.arrays.end()) return {result[name]};
  return {array->second.data<double>(), array->second.data<double>() + array->second.num_elements()};
}

class MetricsGoldenTest : public testing::TestWithParam<int> {};

TEST_P(MetricsGoldenTest, ValuesAreTensorFlowsAndScikitLearns) {
  const int devices = GetParam();
  absl::StatusOr<TensorMap> golden = ReadSafetensors(Env::Default(), "tests/golden/metrics.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status();
  std::map<std::string, Metric> metrics;
  auto build = [&](GraphBuilder& g) {
    const Inputs in(g);
    metrics = All(in);
    g.Output("loss", ReduceMean(in.logits));
    for (const auto& [name, metric] : metrics) {
      for (const std::string& sum : SumsOf(metric)) {
        g.Output(MetricSumName(name, sum),
                 metric.result ? metric.sums.at(sum) : (sum == "total" ? metric.total : metric.count));
      }
    }
  };
  absl::StatusOr<Program> program = Prepare(build, {.devices = devices, .batch = kRows / devices, .mode = "eval"});
  ASSERT_TRUE(program.ok()) << program.status();
  const HostTensor& rows = golden->at("rows");
  ASSERT_GE(rows.num_elements(), 200);
  int64_t begin = 0;
  for (int64_t c = 0; c < rows.num_elements(); ++c) {
    SCOPED_TRACE(c);
    MetricAccumulator accumulator(metrics);
    const int64_t end = begin + rows.data<int32_t>()[c];
    while (begin < end) {
      const int64_t n = std::min(kRows, end - begin);
      TensorMap batch;
      for (const auto& input : program->executable->index().inputs) {
        batch[input.name] = Rows(golden->at(input.name), begin, begin + n);
      }
      std::vector<int64_t> dealt;
      for (int64_t left = n; dealt.size() < static_cast<size_t>(devices); left -= dealt.back()) {
        dealt.push_back(std::min(left, kRows / devices));
      }
      absl::StatusOr<StepResult> step = program->Run(Deal(*program, batch, dealt, 0));
      ASSERT_TRUE(step.ok()) << step.status();
      RunValues values;
      values.examples = n;
      for (size_t i = 0; i < step->outputs.size(); ++i) {
        values.tensors[program->executable->index().outputs[i].name] = step->outputs[i];
      }
      ASSERT_TRUE(accumulator.Add(values).ok());
      begin += n;
    }
    absl::StatusOr<EvalResult> result = accumulator.Result(0);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const auto& entry : metrics) {
      const std::string& name = entry.first;
      const HostTensor want = Rows(golden->at(name + "/value"), c, c + 1);
      const std::vector<double> got = ValueOf(*result, name);
      ASSERT_EQ(static_cast<int64_t>(got.size()), want.num_elements()) << name;
      // TensorFlow computes in float32; a percentile is right to a bin.
      const double allowed = name == "percentiles" ? (kHigh - kLow) / kBins + 1e-6 : 1e-5;
      for (size_t i = 0; i < got.size(); ++i) {
        const double w = want.data<float>()[i];
        if (std::isnan(w) && std::isnan(got[i])) continue;
        EXPECT_LE(std::abs(got[i] - w), allowed * std::max(1.0, std::abs(w)))
            << name << "[" << i << "] is " << got[i] << ", not " << w;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(begin, golden->at("label").num_elements());
}

INSTANTIATE_TEST_SUITE_P(Devices, MetricsGoldenTest, testing::Values(1, 3));

}  // namespace
}  // namespace tandem::compiled
