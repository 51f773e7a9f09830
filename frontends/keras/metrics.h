// Metrics for Model::Compile: a Keras name, a function of frontends/metrics.h, or a user's function.
#ifndef TANDEM_FRONTENDS_KERAS_METRICS_H_
#define TANDEM_FRONTENDS_KERAS_METRICS_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/part_config.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace keras {

// Makes the metric from labels and predictions; of the options only `weights` are used.
using MetricFn = std::function<Metric(const Tensor& labels, const Tensor& predictions,
                                      const tandem::metrics::MetricOptions& options, SourceLocation loc)>;

// A metric of one output of a model.
class MetricArg {
 public:
  // By name. "accuracy" or "acc" becomes, depending on the shapes of output and labels, binary_accuracy (an output of
  // one number), sparse_categorical_accuracy (labels without an axis of classes) or categorical_accuracy;
  // "crossentropy" and "ce" likewise. Other names are the functions and classes of Keras 2.15 that Tandem has, such as
  // top_k_categorical_accuracy and AUC, classes also in lower case, and the names of all losses, for the mean of the
  // examples' losses. With another name, calling the metric is an error, which status() also returns.
  MetricArg(const char* name);         // NOLINT: implicit
  MetricArg(const std::string& name);  // NOLINT: implicit
  // A function of frontends/metrics.h, such as metrics::AUC, with its default options.
  template <typename Options>
  MetricArg(Metric (*metric)(const Tensor&, const Tensor&, const Options&, SourceLocation))  // NOLINT: implicit
      : MetricArg(WithOptions(metric, Options()), reinterpret_cast<AnyFunction>(metric)) {}
  // A user's function of labels and predictions. It returns a metric, or one number for each example, whose mean is the
  // metric.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, MetricArg> &&
           std::is_invocable_r_v<Metric, F, const Tensor&, const Tensor&>) MetricArg(F&& metric)  // NOLINT: implicit
      : name_("metric"), function_(OwnMetric(std::forward<F>(metric))) {}
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, MetricArg> &&
           std::is_invocable_r_v<Tensor, F, const Tensor&, const Tensor&>) MetricArg(F&& values)  // NOLINT: implicit
      : name_("metric"), function_(OwnValues(std::forward<F>(values))) {}
  MetricArg(std::string name, PartConfig::Value config, MetricFn function)
      : name_(std::move(name)), config_(std::move(config)), function_(std::move(function)) {}

  const absl::Status& status() const { return status_; }
  // Makes the metric; an unknown name is an error at `loc`.
  Metric operator()(const Tensor& labels, const Tensor& predictions, const tandem::metrics::MetricOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // The name in logs: for a function the name as the user wrote it, such as "mse"; for a class a name such as
  // "mean_squared_error"; for a user's function "metric".
  const std::string& name() const { return name_; }
  // The same metric under another name.
  MetricArg WithName(const std::string& name) const;
  // The description in Keras' files: the name as the user wrote it, or a class and its arguments; null for a user's
  // function.
  const PartConfig::Value& config() const { return config_; }

  // Returns a metric whose options are fixed, except for the weights, which come from the options of each call.
  template <typename Options>
  static MetricFn WithOptions(Metric (*metric)(const Tensor&, const Tensor&, const Options&, SourceLocation),
                              const Options& own) {
    return [metric, own](const Tensor& labels, const Tensor& predictions, const tandem::metrics::MetricOptions& options,
                         SourceLocation loc) {
      Options all = own;
      all.weights = options.weights;
      return metric(labels, predictions, all, loc);
    };
  }

 private:
  using AnyFunction = void (*)();
  MetricArg(MetricFn function, AnyFunction given_as);
  static MetricFn OwnMetric(std::function<Metric(const Tensor&, const Tensor&)> metric);
  static MetricFn OwnValues(std::function<Tensor(const Tensor&, const Tensor&)> values);

  absl::Status status_;
  std::string name_;
  PartConfig::Value config_;
  MetricFn function_;
};

// InvalidArgument, with the known names, for a name that MetricArg does not accept.
absl::StatusOr<MetricArg> MetricByName(absl::string_view name);
// Makes a metric from its class and arguments in a model file, also from a function in MeanMetricWrapper.
// InvalidArgument as for InitializerFromConfig; also for several thresholds, and for options that Tandem's metric does
// not have, such as class_id.
absl::StatusOr<MetricArg> MetricFromConfig(const PartConfig& config);

namespace metrics {

// Keras' metric classes, for which arguments can be set.
MetricArg AUC(const tandem::metrics::AucOptions& options = {});
MetricArg BinaryAccuracy(double threshold = 0.5);
MetricArg Precision(const tandem::metrics::ScoreOptions& options = {});
MetricArg Recall(const tandem::metrics::ScoreOptions& options = {});
MetricArg TopKCategoricalAccuracy(int64_t k = 5);
MetricArg SparseTopKCategoricalAccuracy(int64_t k = 5);
MetricArg MeanIoU(int64_t num_classes);

}  // namespace metrics
}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_METRICS_H_
