#include "frontends/keras/metrics.h"

#include <initializer_list>
#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/check.h"
#include "frontends/config_reader.h"
#include "frontends/keras/labels.h"
#include "frontends/keras/losses.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace {

namespace metric_sums = tandem::metrics;
using metric_sums::MetricOptions;

Metric Poisoned(const Tensor& tensor) { return {.total = tensor, .count = tensor}; }

Metric SparseAccuracy(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                      SourceLocation loc) {
  return metric_sums::Accuracy(WholeLabels(labels, loc), predictions, options, loc);
}

MetricFn TopK(int64_t k, bool sparse) {
  return
      [k, sparse](const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
        return metric_sums::TopKAccuracy(sparse ? WholeLabels(labels, loc) : labels, predictions,
                                         {.weights = options.weights, .k = k}, loc);
      };
}

// Returns a metric that is the mean of the losses of all examples.
MetricFn MeanOf(const LossArg& loss) {
  return [loss](const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
    Tensor values = loss(labels, predictions, {.reduction = tandem::losses::Reduction::kNone}, loc);
    return values.ok() ? metric_sums::Mean(values, options, loc) : Poisoned(values);
  };
}

MetricFn BinaryOf(double threshold) {
  return MetricArg::WithOptions(metric_sums::BinaryAccuracy, {.threshold = threshold});
}

// The kind of an output and its labels, as Keras determines it for "accuracy" and "crossentropy".
enum class Kind : int8_t { kBinary, kSparse, kCategorical };
Kind KindOf(const Tensor& labels, const Tensor& predictions) {
  if (predictions.rank() < 2 || predictions.shape().back() == 1) return Kind::kBinary;
  const bool sparse = labels.rank() < predictions.rank() || labels.shape().back() == 1;
  return sparse ? Kind::kSparse : Kind::kCategorical;
}

// Returns a metric that calls one of the three metrics, depending on the shapes of labels and predictions.
MetricFn ByShape(MetricFn binary, MetricFn sparse, MetricFn categorical) {
  return [=](const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
    Tensor failed;
    if (frontends::CommonGraph("Metric", {{"labels", labels}, {"predictions", predictions}}, loc, &failed) == nullptr) {
      return Poisoned(failed);
    }
    switch (KindOf(labels, predictions)) {
      case Kind::kBinary:
        return binary(labels, predictions, options, loc);
      case Kind::kSparse:
        return sparse(labels, predictions, options, loc);
      case Kind::kCategorical:
        break;
    }
    return categorical(labels, predictions, options, loc);
  };
}

struct NamedMetric {
  const char* class_name;  // Keras' class; empty if there is none
  const char* name;        // Keras' function, or the name of the class in logs
  bool is_function;        // true if Keras has a function called `name`
  MetricFn function;
  void (*given_as)() = nullptr;  // the public function of frontends/metrics.h, by which a user may refer to the metric
};

template <typename Options>
NamedMetric ClassOf(const char* class_name, const char* name,
                    Metric (*metric)(const Tensor&, const Tensor&, const Options&, SourceLocation)) {
  return {class_name, name, false, MetricArg::WithOptions(metric, Options()), reinterpret_cast<void (*)()>(metric)};
}

const std::vector<NamedMetric>& NamedMetrics() {
  static const auto* named = new std::vector<NamedMetric>{
      {"BinaryAccuracy", "binary_accuracy", true, BinaryOf(0.5),
       reinterpret_cast<void (*)()>(metric_sums::BinaryAccuracy)},
      {"CategoricalAccuracy", "categorical_accuracy", true, metric_sums::Accuracy},
      {"SparseCategoricalAccuracy", "sparse_categorical_accuracy", true, SparseAccuracy},
      {"TopKCategoricalAccuracy", "top_k_categorical_accuracy", true, TopK(5, false),
       reinterpret_cast<void (*)()>(metric_sums::TopKAccuracy)},
      {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy", true, TopK(5, true)},
      {"CosineSimilarity", "cosine_similarity", true, metric_sums::CosineSimilarity,
       reinterpret_cast<void (*)()>(metric_sums::CosineSimilarity)},
      ClassOf("RootMeanSquaredError", "root_mean_squared_error", metric_sums::RootMeanSquaredError),
      ClassOf("AUC", "auc", metric_sums::AUC),
      ClassOf("Precision", "precision", metric_sums::Precision),
      ClassOf("Recall", "recall", metric_sums::Recall),
      ClassOf("TruePositives", "true_positives", metric_sums::TruePositives),
      ClassOf("FalsePositives", "false_positives", metric_sums::FalsePositives),
      ClassOf("TrueNegatives", "true_negatives", metric_sums::TrueNegatives),
      ClassOf("FalseNegatives", "false_negatives", metric_sums::FalseNegatives)};
  return *named;
}

// Describes a metric class as Keras' config does.
PartConfig::Value MetricConfig(const char* class_name, const char* name,
                               std::vector<std::pair<std::string, PartConfig::Value>> own) {
  PartConfig config = {class_name, {{"name", name}, {"dtype", "float32"}}};
  for (auto& value : own) config.values.push_back(std::move(value));
  return std::make_shared<const PartConfig>(std::move(config));
}

}  // namespace

MetricArg::MetricArg(const char* name) : MetricArg(name == nullptr ? std::string() : std::string(name)) {}

MetricArg::MetricArg(const std::string& name) : name_(name), config_(name) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "accuracy" || lower == "acc") {
    function_ = ByShape(BinaryOf(0.5), SparseAccuracy, metric_sums::Accuracy);
    return;
  }
  if (lower == "crossentropy" || lower == "ce") {
    function_ = ByShape(MeanOf("binary_crossentropy"), MeanOf("sparse_categorical_crossentropy"),
                        MeanOf("categorical_crossentropy"));
    return;
  }
  std::vector<std::string> names = {"accuracy", "crossentropy"};
  for (const NamedMetric& known : NamedMetrics()) {
    names.push_back(known.is_function ? known.name : known.class_name);
    if (name != known.name && name != known.class_name) continue;
    function_ = known.function;
    name_ = known.name;
    // Files name a metric by its class if Keras has no function for it.
    if (!known.is_function) config_ = std::string(known.class_name);
    return;
  }
  const LossArg loss = name;
  if (loss.status().ok()) {
    function_ = MeanOf(loss);
    name_ = LossFunctionName(name);
    return;
  }
  for (const char* word : {"mse", "mae", "mape", "msle", "and the other losses"}) names.push_back(word);
  status_ = frontends::UnknownNameError("metric", name, names);
}

MetricArg::MetricArg(MetricFn function, AnyFunction given_as) : name_("metric"), function_(std::move(function)) {
  if (given_as == nullptr) status_ = absl::InvalidArgumentError("the function is null");
  if (given_as == reinterpret_cast<AnyFunction>(metric_sums::Accuracy)) *this = MetricArg("accuracy");
  if (given_as == reinterpret_cast<AnyFunction>(metric_sums::MeanSquaredError)) name_ = "mean_squared_error";
  if (given_as == reinterpret_cast<AnyFunction>(metric_sums::MeanAbsoluteError)) name_ = "mean_absolute_error";
  if (name_.starts_with("mean_")) config_ = name_;
  for (const NamedMetric& known : NamedMetrics()) {
    if (given_as != nullptr && given_as == known.given_as) *this = MetricArg(known.name);
  }
}

MetricFn MetricArg::OwnMetric(std::function<Metric(const Tensor&, const Tensor&)> metric) {
  return [metric](const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
    Tensor failed;
    GraphBuilder* graph =
        frontends::CommonGraph("Metric", {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
    if (graph == nullptr) return Poisoned(failed);
    if (metric == nullptr) return Poisoned(graph->FailAt("Metric", "the function is null", loc));
    if (options.weights.empty()) return metric(labels, predictions);
    return Poisoned(graph->FailAt(
        "Metric", "a function that makes a Metric takes no sample weights; return a number for each example, [b]",
        loc));
  };
}

MetricFn MetricArg::OwnValues(std::function<Tensor(const Tensor&, const Tensor&)> values) {
  return [values](const Tensor& labels, const Tensor& predictions, const MetricOptions& options, SourceLocation loc) {
    Tensor failed;
    GraphBuilder* graph =
        frontends::CommonGraph("Metric", {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
    if (graph == nullptr) return Poisoned(failed);
    if (values == nullptr) return Poisoned(graph->FailAt("Metric", "the function is null", loc));
    Tensor each = values(labels, predictions);
    if (!each.ok()) return Poisoned(graph->FailAt("Metric", "the function returned an empty Tensor", loc));
    return metric_sums::Mean(each, options, loc);
  };
}

Metric MetricArg::operator()(const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                             SourceLocation loc) const {
  if (status_.ok()) return function_(labels, predictions, options, loc);
  GraphBuilder* graph = predictions.graph();
  return Poisoned(graph != nullptr ? graph->FailAt("Metric", status_.message(), loc)
                                   : frontends::WithoutGraph("Metric", status_.message(), loc));
}

MetricArg MetricArg::WithName(const std::string& name) const {
  MetricArg named = *this;
  named.name_ = name;
  return named;
}

absl::StatusOr<MetricArg> MetricByName(absl::string_view name) {
  MetricArg metric{std::string(name)};
  TD_RETURN_IF_ERROR(metric.status());
  return metric;
}

namespace {

// Reads a threshold. Keras allows a list of thresholds, of which only one is supported here; null means the default,
// 0.5.
double ReadThreshold(frontends::ConfigReader& reader, absl::string_view key) {
  const std::vector<double> thresholds = reader.Numbers(key);
  if (thresholds.size() > 1) reader.Fail(key, "one number");
  return thresholds.size() == 1 ? thresholds[0] : 0.5;
}

// Records an error for each of the keys that has a value other than null.
void Refuse(frontends::ConfigReader& reader, std::initializer_list<absl::string_view> keys) {
  reader.Ignore(keys);
  for (absl::string_view key : keys) {
    if (reader.Has(key)) reader.Fail(key, "null, since Tandem's metric does not have it");
  }
}

MetricArg ReadAuc(frontends::ConfigReader& reader) {
  metric_sums::AucOptions options;
  options.num_thresholds = reader.Count("num_thresholds", options.num_thresholds);
  options.multi_label = reader.Flag("multi_label", false);
  options.label_weights = reader.Numbers("label_weights");
  const std::string curve = reader.Text("curve", "ROC"), summation = reader.Text("summation_method", "interpolation");
  if (curve == "PR") options.curve = metric_sums::Curve::kPR;
  if (curve != "PR" && curve != "ROC") reader.Fail("curve", "ROC or PR");
  if (summation == "minoring") {
    options.summation = metric_sums::Summation::kMinoring;
  } else if (summation == "majoring") {
    options.summation = metric_sums::Summation::kMajoring;
  } else if (summation != "interpolation") {
    reader.Fail("summation_method", "interpolation, minoring or majoring");
  }
  reader.Ignore({"num_labels"});
  Refuse(reader, {"thresholds"});
  return metrics::AUC(options);
}

}  // namespace

absl::StatusOr<MetricArg> MetricFromConfig(const PartConfig& config) {
  frontends::ConfigReader reader("metric", config);
  reader.Ignore({"dtype"});
  const std::string log_name = reader.Text("name", ""), &class_name = config.class_name;
  absl::StatusOr<MetricArg> metric = absl::UnknownError("");
  if (class_name == "MeanMetricWrapper") {
    metric = MetricByName(reader.Text("fn", ""));
  } else if (class_name == "AUC") {
    metric = ReadAuc(reader);
  } else if (class_name == "Precision" || class_name == "Recall") {
    Refuse(reader, {"top_k", "class_id"});
    const metric_sums::ScoreOptions options = {.threshold = ReadThreshold(reader, "thresholds")};
    metric = class_name == "Recall" ? metrics::Recall(options) : metrics::Precision(options);
  } else if (class_name == "BinaryAccuracy") {
    metric = metrics::BinaryAccuracy(ReadThreshold(reader, "threshold"));
  } else if (class_name == "TopKCategoricalAccuracy") {
    metric = metrics::TopKCategoricalAccuracy(reader.Count("k", 5));
  } else if (class_name == "SparseTopKCategoricalAccuracy") {
    metric = metrics::SparseTopKCategoricalAccuracy(reader.Count("k", 5));
  } else if (class_name == "MeanIoU") {
    metric = metrics::MeanIoU(reader.Count("num_classes", 0));
  } else {
    metric = MetricByName(class_name);
  }
  TD_RETURN_IF_ERROR(metric.status());
  TD_RETURN_IF_ERROR(reader.Finish());
  // The metric keeps the description that was read, so that saving the model again writes the same one.
  return MetricArg(log_name.empty() ? metric->name() : log_name, std::make_shared<const PartConfig>(config),
                   [metric = *metric](const Tensor& labels, const Tensor& predictions, const MetricOptions& options,
                                      SourceLocation loc) { return metric(labels, predictions, options, loc); });
}

namespace metrics {

MetricArg AUC(const metric_sums::AucOptions& o) {
  const char* summation = o.summation == metric_sums::Summation::kInterpolation ? "interpolation"
                          : o.summation == metric_sums::Summation::kMinoring    ? "minoring"
                                                                                : "majoring";
  return {"auc",
          MetricConfig("AUC", "auc",
                       {{"num_thresholds", o.num_thresholds},
                        {"curve", o.curve == metric_sums::Curve::kROC ? "ROC" : "PR"},
                        {"summation_method", summation},
                        {"multi_label", o.multi_label}}),
          MetricArg::WithOptions(metric_sums::AUC, o)};
}

MetricArg BinaryAccuracy(double threshold) {
  return {"binary_accuracy", MetricConfig("BinaryAccuracy", "binary_accuracy", {{"threshold", threshold}}),
          BinaryOf(threshold)};
}

MetricArg Precision(const metric_sums::ScoreOptions& o) {
  return {"precision", MetricConfig("Precision", "precision", {{"thresholds", o.threshold}}),
          MetricArg::WithOptions(metric_sums::Precision, o)};
}

MetricArg Recall(const metric_sums::ScoreOptions& o) {
  return {"recall", MetricConfig("Recall", "recall", {{"thresholds", o.threshold}}),
          MetricArg::WithOptions(metric_sums::Recall, o)};
}

MetricArg TopKCategoricalAccuracy(int64_t k) {
  constexpr char kName[] = "top_k_categorical_accuracy";
  return {kName, MetricConfig("TopKCategoricalAccuracy", kName, {{"k", k}}), TopK(k, false)};
}

MetricArg SparseTopKCategoricalAccuracy(int64_t k) {
  constexpr char kName[] = "sparse_top_k_categorical_accuracy";
  return {kName, MetricConfig("SparseTopKCategoricalAccuracy", kName, {{"k", k}}), TopK(k, true)};
}

MetricArg MeanIoU(int64_t num_classes) {
  return {"mean_io_u", MetricConfig("MeanIoU", "mean_io_u", {{"num_classes", num_classes}}),
          MetricArg::WithOptions(metric_sums::MeanIoU, {.num_classes = num_classes})};
}

}  // namespace metrics

}  // namespace tandem::keras
