// Batch and layer normalisation.
#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/layer_scope.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::layers {
namespace {

// Returns the number of rows over which the statistics were computed, as a scalar of x's type: the number of examples
// in the batch, multiplied by all sizes between the batch and the channels.
Tensor RowCount(GraphBuilder* graph, const Tensor& x, bool sync, SourceLocation loc) {
  const Shape& shape = x.shape();
  const bool batched = shape[0] == kBatch;
  double rows = 1;
  for (size_t i = batched ? 1 : 0; i + 1 < shape.size(); ++i) rows *= static_cast<double>(shape[i]);
  if (!batched) return frontends::ScalarConstant(graph, rows, x.dtype(), loc);
  Tensor examples =
      graph->StepScalar(sync ? "example_count" : "replica_example_count", DType::kFloat32, std::nullopt, loc);
  return Mul(Cast(examples, x.dtype(), loc), rows, loc);
}

// Replicas agree on the new value by averaging the batch statistics over the replicas that have rows, not by averaging
// the new values. So a parameter server can apply the update to its current value, which other workers change as well.
void UpdateMovingAverage(GraphBuilder* graph, const Tensor& moving, const Tensor& batch, double momentum,
                         SourceLocation loc) {
  // The gradient is stopped after the mean over the replicas, so that the value is rounded in the same place for one
  // replica and for several.
  Tensor statistic = StopGradient(graph->VariesByReplica(batch) ? CrossReplicaMean(batch, loc) : batch, loc);
  // Includes the update by an earlier call of the same layer in this graph.
  const Tensor now = graph->AssignedSoFar(moving);
  graph->Assign(moving, Sub(now, Mul(Sub(now, statistic, loc), 1 - momentum, loc), loc), loc);
}

}  // namespace

Tensor BatchNormalization(const Tensor& x, const BatchNormalizationOptions& options, SourceLocation loc) {
  LayerScope layer(x, "BatchNormalization", "batch_normalization", options.name, 0, loc);
  if (!layer.ok()) return layer.Failed();
  if (x.rank() < 2) {
    return layer.Fail(absl::StrCat("needs an input of shape [b, ..., channels], got ", ShapeString(x.shape())));
  }
  if (!(options.momentum >= 0 && options.momentum <= 1)) {
    return layer.Fail(absl::StrCat("`momentum` must be in [0, 1], got ", options.momentum));
  }
  if (!(options.epsilon > 0)) return layer.Fail(absl::StrCat("`epsilon` must be positive, got ", options.epsilon));
  if (!options.training.has_value()) {
    return layer.Fail("`training` is not set; pass .training = mode == Mode::kTrain");
  }
  GraphBuilder* graph = layer.graph();
  const Shape channels = {x.shape().back()};
  Tensor gamma, beta;
  if (options.scale) gamma = layer.Weight("gamma", channels, initializers::Ones(), options.trainable);
  if (options.center) beta = layer.Weight("beta", channels, initializers::Zeros(), options.trainable);
  Tensor mean = layer.Weight("moving_mean", channels, initializers::Zeros(), /*trainable=*/false);
  Tensor variance = layer.Weight("moving_variance", channels, initializers::Ones(), /*trainable=*/false);
  if (!layer.ok()) return layer.Failed();

  if (*options.training && options.trainable) {
    Moments batch = BatchMoments(x, options.sync ? "global" : "replica", loc);
    Tensor batch_variance = batch.variance;
    if (x.rank() == 4 || x.rank() == 5) {
      Tensor rows = RowCount(graph, x, options.sync, loc);
      Tensor correction = Div(rows, Maximum(Sub(rows, 1.0, loc), 1.0, loc), loc);
      batch_variance = Mul(batch_variance, correction, loc);
    }
    UpdateMovingAverage(graph, mean, batch.mean, options.momentum, loc);
    UpdateMovingAverage(graph, variance, batch_variance, options.momentum, loc);
    mean = batch.mean;
    variance = batch.variance;
  }
  Tensor scale = Rsqrt(Add(variance, options.epsilon, loc), loc);
  if (gamma.ok()) scale = Mul(scale, gamma, loc);
  Tensor y = Mul(Sub(x, mean, loc), scale, loc);
  return beta.ok() ? Add(y, beta, loc) : y;
}

Tensor LayerNormalization(const Tensor& x, const LayerNormalizationOptions& options, SourceLocation loc) {
  LayerScope layer(x, "LayerNormalization", "layer_normalization", options.name, 0, loc);
  if (!layer.ok()) return layer.Failed();
  if (x.rank() < 2) {
    return layer.Fail(absl::StrCat("needs an input of shape [b, ..., channels], got ", ShapeString(x.shape())));
  }
  if (!(options.epsilon > 0)) return layer.Fail(absl::StrCat("`epsilon` must be positive, got ", options.epsilon));
  const Shape channels = {x.shape().back()};
  Tensor gamma, beta;
  if (options.scale) gamma = layer.Weight("gamma", channels, initializers::Ones(), options.trainable);
  if (options.center) beta = layer.Weight("beta", channels, initializers::Zeros(), options.trainable);
  if (!layer.ok()) return layer.Failed();
  Tensor y = LayerNorm(x, options.epsilon, loc);
  if (gamma.ok()) y = Mul(y, gamma, loc);
  return beta.ok() ? Add(y, beta, loc) : y;
}

}  // namespace tandem::layers
