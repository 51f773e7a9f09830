// EstimatorSpec: what a model_fn returns, by mode.
#ifndef TANDEM_ESTIMATOR_MODEL_ESTIMATOR_SPEC_H_
#define TANDEM_ESTIMATOR_MODEL_ESTIMATOR_SPEC_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/data/dataset.h"
#include "tandem/data/input_context.h"
#include "tandem/estimator/config/mode.h"
#include "tandem/estimator/config/params.h"
#include "tandem/estimator/loop/session_run_hook.h"
#include "tandem/estimator/model/features.h"
#include "tandem/estimator/model/labels.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// Predictions and metrics by name.
using TensorsByName = std::map<std::string, Tensor>;
using MetricsByName = std::map<std::string, Metric>;

// Made by one of the three static functions; error messages name the line that called it. Hooks may be added to it
// afterwards.
struct EstimatorSpec {
  // `predictions` are batched tensors [b, ...]; the prediction for an example is its row of each.
  static EstimatorSpec Predict(TensorsByName predictions, SourceLocation location = SourceLocation::Current()) {
    EstimatorSpec spec(Mode::kPredict, location);
    spec.predictions = std::move(predictions);
    return spec;
  }
  // `loss` is a scalar, or of shape [1]. Metrics may not be named "loss" or "global_step".
  static EstimatorSpec Eval(const Tensor& loss, MetricsByName metrics = {},
                            SourceLocation location = SourceLocation::Current()) {
    EstimatorSpec spec(Mode::kEval, location);
    spec.loss = loss;
    spec.metrics = std::move(metrics);
    return spec;
  }
  // `train_op` is what Optimizer::Minimize returns. Metrics over the last RunConfig.log_step_count_steps steps go to
  // the log.
  static EstimatorSpec Train(const Tensor& loss, TrainOp train_op, MetricsByName metrics = {},
                             SourceLocation location = SourceLocation::Current()) {
    EstimatorSpec spec(Mode::kTrain, location);
    spec.loss = loss;
    spec.train_op = std::move(train_op);
    spec.metrics = std::move(metrics);
    return spec;
  }

  Mode mode;
  SourceLocation location;  // the line that called Predict, Eval or Train
  Tensor loss;
  TrainOp train_op;
  MetricsByName metrics;
  TensorsByName predictions;
  // Hooks for calls of this mode, in addition to those given to the call; see session_run_hook.h for their order.
  HookList training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks;

 private:
  EstimatorSpec(Mode m, SourceLocation l) : mode(m), location(l) {}
};

// Builds the graph of one mode. Called once per mode and input signature, never per replica or per call. `labels` is
// the dataset's component "label" or "labels", or those of InputSpec.labels; in mode predict, or if there are none, ops
// that use it fail. A model_fn with a single label may take it as a `const Tensor& labels`.
using ModelFn =
    std::function<EstimatorSpec(const Features& features, const Labels& labels, Mode mode, const Params& params)>;

// Makes a dataset of batches for one replica. Its component named "label" or "labels" (or those of InputSpec.labels)
// are the labels, all others are features by name.
using InputFn = std::function<absl::StatusOr<Dataset>(const InputContext& context)>;

// Adds the outputs that `spec` defines to the graph: "loss", "metric/<name>/<sum>", and predictions by name.
// InvalidArgument, with the line where the spec was made, if it is not a spec for `mode`, lacks something, or has a
// name that is not allowed.
absl::Status AddSpecOutputs(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_ESTIMATOR_SPEC_H_
