#include "frontends/keras/metrics.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using frontends::Fetched;
using frontends::Floats;
using frontends::Ints;
using frontends::RunStep;
using frontends::Values;
using testing::HasSubstr;

constexpr int64_t kRows = 4;

// A metric of four rows: labels of one shape (whole numbers where `whole`) and predictions of another.
double ValueOf(const MetricArg& metric, const Values& labels, const Values& predictions, bool whole = false,
               const Values& weights = {}) {
  GraphBuilder graph;
  auto shape = [](const Values& values, int64_t rows) {
    const int64_t columns = static_cast<int64_t>(values.size()) / kRows;
    return columns == 1 ? Shape{rows} : Shape{rows, columns};
  };
  Tensor y = graph.Input("y", whole ? DType::kInt32 : DType::kFloat32, shape(labels, kBatch));
  Tensor p = graph.Input("p", DType::kFloat32, shape(predictions, kBatch));
  std::map<std::string, HostTensor> inputs = {
      {"y", whole ? Ints(shape(labels, kRows), labels) : Floats(shape(labels, kRows), labels)},
      {"p", Floats(shape(predictions, kRows), predictions)}};
  tandem::metrics::MetricOptions options;
  if (!weights.empty()) {
    options.weights = graph.Input("w", DType::kFloat32, {kBatch});
    inputs["w"] = Floats({kRows}, weights);
  }
  const Metric made = metric(y, p, options);
  EXPECT_TRUE(graph.status().ok()) << metric.name() << ": " << graph.status();
  if (!graph.status().ok()) return std::nan("");
  if (made.result == nullptr) {
    graph.Output("total", made.total);
    graph.Output("count", made.count);
  }
  for (const auto& [name, sum] : made.sums) graph.Output(name, sum);
  Fetched got = RunStep(graph, {.batch = kRows, .inputs = std::move(inputs)});
  if (made.result == nullptr) return got.outputs["total"][0] / got.outputs["count"][0];
  absl::StatusOr<MetricValue> value = made.result({got.outputs.begin(), got.outputs.end()});
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? value->tensor.data<double>()[0] : std::nan("");
}

const Values kClasses = {0, 1, 2, 1};
const Values kOneHot = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0};
const Values kScores = {0.7, 0.2, 0.1, 0.5, 0.4, 0.1, 0.1, 0.1, 0.8, 0.2, 0.5, 0.3};

TEST(KerasMetrics, AccuracyIsOfTheShapes) {
  for (const char* name : {"accuracy", "acc", "Accuracy"}) {
    EXPECT_EQ(ValueOf(name, {0, 1, 1, 0}, {0.2, 0.4, 0.9, 0.1}), 0.75) << name;
    EXPECT_EQ(ValueOf(name, kClasses, kScores, true), 0.75) << name;
    EXPECT_EQ(ValueOf(name, kClasses, kScores), 0.75) << name;
    EXPECT_EQ(ValueOf(name, kOneHot, kScores), 0.75) << name;
    EXPECT_EQ(MetricArg(name).name(), name);
  }
  EXPECT_NEAR(ValueOf("accuracy", kClasses, kScores, true, {1, 5, 1, 1}), 3.0 / 8, 1e-12);
  const double each = -(std::log(0.7) + std::log(0.4) + std::log(0.8) + std::log(0.5)) / 4;
  EXPECT_NEAR(ValueOf("crossentropy", kOneHot, kScores), each, 1e-6);
  EXPECT_NEAR(ValueOf("ce", kClasses, kScores, true), each, 1e-6);
  EXPECT_NEAR(ValueOf("ce", {1, 1, 1, 1}, {0.7, 0.4, 0.8, 0.5}), each, 1e-6);
}

TEST(KerasMetrics, ByName) {
  EXPECT_EQ(ValueOf("binary_accuracy", {0, 1, 1, 0}, {0.2, 0.4, 0.9, 0.1}), 0.75);
  EXPECT_EQ(ValueOf("categorical_accuracy", kOneHot, kScores), 0.75);
  EXPECT_EQ(ValueOf("sparse_categorical_accuracy", kClasses, kScores), 0.75);
  EXPECT_EQ(ValueOf(metrics::TopKCategoricalAccuracy(2), kOneHot, kScores), 1);
  EXPECT_EQ(ValueOf(metrics::TopKCategoricalAccuracy(1), kOneHot, kScores), 0.75);
  EXPECT_EQ(ValueOf(metrics::SparseTopKCategoricalAccuracy(1), kClasses, kScores), 0.75);
  EXPECT_EQ(ValueOf("top_k_categorical_accuracy", kOneHot, kScores), 1);
  const Values y = {0, 1, 1, 0}, p = {0.6, 0.4, 0.9, 0.1};
  for (const char* name : {"precision", "Precision", "recall", "Recall"}) EXPECT_EQ(ValueOf(name, y, p), 0.5) << name;
  EXPECT_EQ(ValueOf(metrics::Precision({.threshold = 0.7}), y, p), 1);
  EXPECT_EQ(ValueOf(metrics::Recall({.threshold = 0.3}), y, p), 1);
  EXPECT_EQ(ValueOf(metrics::BinaryAccuracy(0.3), y, p), 0.75);
  for (const char* name : {"auc", "AUC"}) EXPECT_NEAR(ValueOf(name, y, p), 0.75, 1e-6) << name;
  EXPECT_EQ(ValueOf("TruePositives", y, p), 1);
  EXPECT_EQ(ValueOf("false_negatives", y, p), 1);
  EXPECT_NEAR(ValueOf("RootMeanSquaredError", {1, 2, 3, 4}, {1, 2, 3, 6}), 1, 1e-6);
  EXPECT_NEAR(ValueOf("mse", {1, 2, 3, 4}, {1, 2, 3, 6}), 1, 1e-6);
  EXPECT_NEAR(ValueOf("mae", {1, 2, 3, 4}, {1, 2, 3, 6}, false, {1, 1, 1, 5}), 10.0 / 8, 1e-6);
  EXPECT_NEAR(ValueOf("mape", {1, 2, 4, 4}, {1, 2, 3, 4}), 6.25, 1e-5);
  // As a metric it is the cosine, not its negative.
  EXPECT_NEAR(ValueOf("cosine_similarity", {1, 0, 1, 0, 1, 0, 1, 0}, {2, 0, 2, 0, 2, 0, 0, 3}), 0.75, 1e-6);
}

TEST(KerasMetrics, HaveTheNamesOfLogs) {
  EXPECT_EQ(MetricArg("mse").name(), "mse");
  EXPECT_EQ(MetricArg("MeanSquaredError").name(), "mean_squared_error");
  EXPECT_EQ(MetricArg("AUC").name(), "auc");
  EXPECT_EQ(std::get<std::string>(MetricArg("auc").config()), "AUC");
  EXPECT_EQ(MetricArg(tandem::metrics::AUC).name(), "auc");
  EXPECT_EQ(MetricArg(tandem::metrics::Accuracy).name(), "accuracy");
  EXPECT_EQ(MetricArg(tandem::metrics::MeanSquaredError).name(), "mean_squared_error");
  EXPECT_EQ(metrics::AUC({.curve = tandem::metrics::Curve::kPR}).WithName("auc_pr").name(), "auc_pr");
  EXPECT_EQ(std::get<std::shared_ptr<const PartConfig>>(metrics::MeanIoU(3).config())->class_name, "MeanIoU");
  EXPECT_EQ(metrics::MeanIoU(3).name(), "mean_io_u");
}

TEST(KerasMetrics, TakeFunctionsOfOnesOwn) {
  const MetricArg values = [](const Tensor& y, const Tensor& p) { return Abs(y - p) * 2.0; };
  EXPECT_NEAR(ValueOf(values, {1, 2, 3, 4}, {1, 2, 3, 6}), 1, 1e-6);
  EXPECT_NEAR(ValueOf(values, {1, 2, 3, 4}, {1, 2, 3, 6}, false, {1, 1, 1, 2}), 8.0 / 5, 1e-6);
  const MetricArg metric = [](const Tensor& y, const Tensor& p) {
    return tandem::metrics::BinaryAccuracy(y, p, {.threshold = 0.3});
  };
  EXPECT_EQ(ValueOf(metric, {0, 1, 1, 0}, {0.6, 0.4, 0.9, 0.1}), 0.75);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(metric.config()));
  EXPECT_NEAR(ValueOf(tandem::metrics::MeanAbsoluteError, {1, 2, 3, 4}, {1, 2, 3, 6}), 0.5, 1e-6);
}

TEST(KerasMetrics, ComeBackFromTheirConfigs) {
  const std::vector<MetricArg> all = {
      metrics::AUC({.curve = tandem::metrics::Curve::kPR, .num_thresholds = 50, .multi_label = true}),
      metrics::Precision({.threshold = 0.25}),
      metrics::Recall({.threshold = 0.75}),
      metrics::BinaryAccuracy(0.25),
      metrics::TopKCategoricalAccuracy(3),
      metrics::SparseTopKCategoricalAccuracy(2),
      metrics::MeanIoU(4)};
  for (const MetricArg& metric : all) {
    const PartConfig& config = *std::get<std::shared_ptr<const PartConfig>>(metric.config());
    absl::StatusOr<MetricArg> read = MetricFromConfig(config);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->name(), metric.name());
    EXPECT_EQ(std::get<std::shared_ptr<const PartConfig>>(read->config())->values, config.values);
  }
  absl::StatusOr<MetricArg> wrapped =
      MetricFromConfig({"MeanMetricWrapper", {{"name", "acc"}, {"fn", "categorical_accuracy"}}});
  ASSERT_TRUE(wrapped.ok()) << wrapped.status();
  EXPECT_EQ(wrapped->name(), "acc");
  EXPECT_EQ(ValueOf(*wrapped, kOneHot, kScores), 0.75);
  absl::StatusOr<MetricArg> list = MetricFromConfig({"Recall", {{"thresholds", std::vector<double>{0.3}}}});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(ValueOf(*list, {0, 1, 1, 0}, {0.6, 0.4, 0.9, 0.1}), 1);
}

TEST(KerasMetrics, RefuseWhatTheyCannotRead) {
  auto error = [](const PartConfig& config) { return std::string(MetricFromConfig(config).status().message()); };
  EXPECT_THAT(error({"OneHotIoU", {}}), HasSubstr("there is no metric \"OneHotIoU\""));
  EXPECT_EQ(error({"Precision", {{"class_id", int64_t{1}}}}),
            "the metric Precision: \"class_id\" must be null, since Tandem's metric does not have it, got 1");
  EXPECT_EQ(error({"Recall", {{"thresholds", std::vector<double>{0.25, 0.5}}}}),
            "the metric Recall: \"thresholds\" must be one number, got [0.25, 0.5]");
  EXPECT_EQ(error({"TopKCategoricalAccuracy", {{"k", 1.5}}}),
            "the metric TopKCategoricalAccuracy: \"k\" must be a whole number of at least 1, got 1.5");
  EXPECT_EQ(error({"AUC", {{"curve", "DET"}}}), "the metric AUC: \"curve\" must be ROC or PR, got \"DET\"");
  EXPECT_EQ(error({"MeanIoU", {}}),
            "the metric MeanIoU: \"num_classes\" must be a whole number of at least 1, got nothing");
}

TEST(KerasMetrics, Errors) {
  auto error = [](const MetricArg& metric, bool weighted = false) {
    GraphBuilder graph;
    Tensor y = graph.Input("y", DType::kFloat32, {kBatch}), p = graph.Input("p", DType::kFloat32, {kBatch});
    tandem::metrics::MetricOptions options;
    if (weighted) options.weights = graph.Input("w", DType::kFloat32, {kBatch});
    EXPECT_FALSE(metric(y, p, options).ok());
    EXPECT_THAT(std::string(graph.status().message()), HasSubstr("metrics_test.cc:"));
    return std::string(graph.status().message());
  };
  EXPECT_THAT(error("acuracy"), HasSubstr("there is no metric \"acuracy\"; did you mean \"accuracy\"?"));
  EXPECT_THAT(error([](const Tensor&, const Tensor&) { return Tensor(); }), HasSubstr("returned an empty Tensor"));
  EXPECT_THAT(error([](const Tensor& y, const Tensor& p) { return tandem::metrics::MeanAbsoluteError(y, p); }, true),
              HasSubstr("takes no sample weights"));
  EXPECT_FALSE(MetricByName("acuracy").ok());
  EXPECT_TRUE(MetricByName("acc").ok());
}

}  // namespace
}  // namespace tandem::keras
