// EstimatorSpec: what a model_fn returns, by mode.
#ifndef TANDEM_ESTIMATOR_ESTIMATOR_SPEC_H_
#define TANDEM_ESTIMATOR_ESTIMATOR_SPEC_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "data/dataset.h"
#include "data/input_context.h"
#include "estimator/features.h"
#include "estimator/labels.h"
#include "estimator/mode.h"
#include "estimator/params.h"
#include "estimator/session_run_hook.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/tensor.h"

namespace tandem {

using TensorsByName = std::map<std::string, Tensor>;
using MetricsByName = std::map<std::string, Metric>;

// Made by one of the three static functions, whose caller is named when something is wrong with it; hooks may be added
// to it afterwards.
struct EstimatorSpec {
  // `predictions`: batched tensors [b, ...]; a prediction for an example is a row of each.
  static EstimatorSpec Predict(TensorsByName predictions, SourceLocation location = SourceLocation::Current()) {
    EstimatorSpec spec(Mode::kPredict, location);
    spec.predictions = std::move(predictions);
    return spec;
  }
  // `loss`: a scalar, or of shape [1]. Metrics may not be named "loss" or "global_step".
  static EstimatorSpec Eval(const Tensor& loss, MetricsByName metrics = {},
                            SourceLocation location = SourceLocation::Current()) {
    EstimatorSpec spec(Mode::kEval, location);
    spec.loss = loss;
    spec.metrics = std::move(metrics);
    return spec;
  }
  // `train_op`: what Optimizer::Minimize returns. The metrics of the last RunConfig.log_step_count_steps steps go to
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
  SourceLocation location;  // of the call that made it
  Tensor loss;
  TrainOp train_op;
  MetricsByName metrics;
  TensorsByName predictions;
  // Hooks for the calls of this mode, besides those given to the call; see session_run_hook.h for their order.
  HookList training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks;

 private:
  EstimatorSpec(Mode m, SourceLocation l) : mode(m), location(l) {}
};

// Builds the graph of one mode. Called once per mode and input signature, never per replica or per call. `labels` is
// the dataset's component "label" or "labels", or those of InputSpec.labels; poisoned in mode predict and when there is
// none. A model_fn with one may take it as a `const Tensor& labels`.
using ModelFn =
    std::function<EstimatorSpec(const Features& features, const Labels& labels, Mode mode, const Params& params)>;

// Yields batches for one replica; components by name are the features, the one named "label" or "labels" the labels.
using InputFn = std::function<absl::StatusOr<Dataset>(const InputContext& context)>;

// Names the outputs of a graph that `spec` defines: "loss", "metric/<name>/<sum>", predictions by name.
// InvalidArgument, with the line where the spec was made, when it is not one for `mode`, lacks something, or a name is
// not allowed.
absl::Status AddSpecOutputs(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ESTIMATOR_SPEC_H_
