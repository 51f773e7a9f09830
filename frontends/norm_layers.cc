// Batch and layer normalisation.
#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/layer_scope.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::layers {
namespace {

// Returns the number of rows that the statistics were taken over, as a scalar of x's type: the product of all
// dimensions but the channel's; the batch counts its examples.
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

// Averages the statistics over the replicas that have rows, instead of averaging the values to assign. So the new value
// is computed from common values, and a parameter server computes it from its own current value, which other workers
// change as well.
void UpdateMovingAverage(GraphBuilder* graph, const Tensor& moving, const Tensor& batch, double momentum,
                         SourceLocation loc) {
  // The gradient is stopped after combining, so that one replica rounds the value in the same place as several do.
  Tensor statistic = StopGradient(graph->VariesByReplica(batch) ? CrossReplicaMean(batch, loc) : batch, loc);
  const Tensor now = graph->AssignedSoFar(moving);  // includes the update of another call of the same layer
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
