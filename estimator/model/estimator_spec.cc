#include "estimator/model/estimator_spec.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/evaluation/metric_accumulator.h"
#include "graph/batch_statistic.h"
#include "graph/ops.h"

namespace tandem {
namespace {

absl::Status Invalid(const EstimatorSpec& spec, Mode mode, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("model_fn, mode ", ModeName(mode), ", EstimatorSpec at ",
                                                 spec.location.file, ":", spec.location.line, ": ", problem));
}

// Returns an example of how a model_fn makes the spec for `mode`.
const char* ExampleOf(Mode mode) {
  switch (mode) {
    case Mode::kTrain:
      return "EstimatorSpec::Train(loss, optimizer.Minimize(loss))";
    case Mode::kEval:
      return "EstimatorSpec::Eval(loss, metrics)";
    case Mode::kPredict:
      break;
  }
  return "EstimatorSpec::Predict({{\"logits\", logits}})";
}

// Returns an error unless `tensor` can become an output of `graph`.
absl::Status CheckTensor(const Tensor& tensor, absl::string_view what, const EstimatorSpec& spec, Mode mode,
                         const GraphBuilder& graph) {
  if (!tensor.ok()) return Invalid(spec, mode, absl::StrCat(what, " ", graph.WhyAbsent(tensor)));
  if (tensor.graph() != &graph) {
    return Invalid(spec, mode,
                   absl::StrCat(what,
                                " belongs to another graph: it was kept from an earlier call of the model_fn, or the "
                                "model_fn built on features of another Estimator; build it anew in every call"));
  }
  return absl::OkStatus();
}

// Returns an error unless `tensor`, the total or count of a metric, is one number.
absl::Status CheckScalar(const Tensor& tensor, absl::string_view what, const EstimatorSpec& spec, Mode mode) {
  const Shape shape = tensor.shape();
  if (shape.empty() || shape == Shape{1}) return absl::OkStatus();
  return Invalid(
      spec, mode,
      absl::StrCat(what, " must be a scalar, summed over the batch; it is ", tensor.name(), " at ", tensor.origin(),
                   ", of shape ", ShapeString(shape), "; take metrics::Mean, or ReduceSum of it"));
}

absl::Status AddLoss(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph) {
  if (!spec.loss.ok() && spec.loss.graph() == nullptr) {
    return Invalid(spec, mode, absl::StrCat("the loss is not set; return ", ExampleOf(mode)));
  }
  TD_RETURN_IF_ERROR(CheckTensor(spec.loss, "the loss", spec, mode, *graph));
  const Shape shape = spec.loss.shape();
  if (!shape.empty() && shape != Shape{1}) {
    return Invalid(spec, mode,
                   absl::StrCat("the loss must be a scalar, it has shape ", ShapeString(shape),
                                "; reduce it, for example with ReduceMean"));
  }
  graph->Output("loss", shape.empty() ? spec.loss : Reshape(spec.loss, {}, spec.location), spec.location);
  return absl::OkStatus();
}

// Returns an error unless `tensor`, one of the sums of a metric, can be added up over batches on the host. `instead`
// suggests how to divide the sums of such a metric.
absl::Status CheckSum(const Tensor& tensor, absl::string_view what, absl::string_view instead,
                      const EstimatorSpec& spec, Mode mode, const GraphBuilder& graph) {
  TD_RETURN_IF_ERROR(CheckTensor(tensor, what, spec, mode, graph));
  auto invalid = [&](absl::string_view problem) {
    return Invalid(spec, mode, absl::StrCat(what, " is ", tensor.name(), " at ", tensor.origin(), ", ", problem));
  };
  if (tensor.rank() > 0 && tensor.shape()[0] == kBatch) {
    return invalid(absl::StrCat("of shape ", ShapeString(tensor.shape()),
                                ": a sum must not have the batch; sum over it, for example with ReduceSum(x, {0})"));
  }
  if (tensor.dtype() == DType::kBool || tensor.dtype() == DType::kUInt8) {
    return invalid(absl::StrCat("of type ", Name(tensor.dtype()),
                                ", which sums do not fit into; Cast it to DType::kFloat64 before it is summed"));
  }
  if (graph.VariesByReplica(tensor)) {
    return invalid("which every replica computes from its own rows; take CrossReplicaSum of it");
  }
  if (const std::string statistic = BatchStatistic(tensor); !statistic.empty()) {
    return invalid(absl::StrCat("the ", statistic,
                                " over the rows of a batch: the values of all batches are added up, ",
                                "and this sum depends on how large they are; give sums over rows, such as "
                                "ReduceSum(x, {0}), and ",
                                instead));
  }
  return absl::OkStatus();
}

absl::Status AddMetric(const std::string& name, const Metric& metric, const EstimatorSpec& spec, Mode mode,
                       GraphBuilder* graph) {
  if (!metric.result) {
    if (!metric.sums.empty()) {
      return Invalid(spec, mode,
                     absl::StrCat("metric \"", name,
                                  "\" has sums but no result; set Metric::result to what computes it from them"));
    }
    for (const auto& [half, tensor] : {std::pair("total", metric.total), std::pair("count", metric.count)}) {
      const std::string what = absl::StrCat("the ", half, " of metric \"", name, "\"");
      TD_RETURN_IF_ERROR(CheckTensor(tensor, what, spec, mode, *graph));
      TD_RETURN_IF_ERROR(CheckScalar(tensor, what, spec, mode));
      TD_RETURN_IF_ERROR(CheckSum(tensor, what, "their number of rows as count", spec, mode, *graph));
      graph->Output(MetricSumName(name, half), tensor, spec.location);
    }
    return absl::OkStatus();
  }
  if (metric.sums.empty()) {
    return Invalid(spec, mode,
                   absl::StrCat("metric \"", name, "\" has a result but no sums to compute it from; set Metric::sums"));
  }
  for (const auto& [sum, tensor] : metric.sums) {
    if (sum.empty()) return Invalid(spec, mode, absl::StrCat("a sum of metric \"", name, "\" has an empty name"));
    const std::string what = absl::StrCat("the sum \"", sum, "\" of metric \"", name, "\"");
    TD_RETURN_IF_ERROR(CheckSum(tensor, what, "let Metric::result divide them", spec, mode, *graph));
    graph->Output(MetricSumName(name, sum), tensor, spec.location);
  }
  return absl::OkStatus();
}

absl::Status AddPredictions(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph) {
  if (spec.predictions.empty()) {
    return Invalid(spec, mode, absl::StrCat("there are no predictions; return ", ExampleOf(mode)));
  }
  for (const auto& [name, tensor] : spec.predictions) {
    const std::string what = absl::StrCat("prediction \"", name, "\"");
    TD_RETURN_IF_ERROR(CheckTensor(tensor, what, spec, mode, *graph));
    if (tensor.rank() == 0 || tensor.shape()[0] != kBatch) {
      return Invalid(spec, mode,
                     absl::StrCat(what, " must have a row for every example, its shape is ",
                                  ShapeString(tensor.shape()), "; predict values of shape [b, ...]"));
    }
    graph->Output(name, tensor, spec.location);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddSpecOutputs(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph) {
  // If the graph has an error, it is returned first, because it is the cause of all the following ones.
  TD_RETURN_IF_ERROR(graph->status());
  if (spec.mode != mode) {
    return Invalid(
        spec, mode,
        absl::StrCat("it is a spec for mode ", ModeName(spec.mode), "; return ", ExampleOf(mode), " in this mode"));
  }
  if (mode == Mode::kPredict) {
    TD_RETURN_IF_ERROR(AddPredictions(spec, mode, graph));
    return graph->status();
  }
  TD_RETURN_IF_ERROR(AddLoss(spec, mode, graph));
  if (mode == Mode::kTrain && spec.train_op.graph() != graph) {
    return Invalid(
        spec, mode,
        absl::StrCat("missing train op",
                     !spec.train_op.of.empty() ? " of this call (the one given belongs to another graph)" : "",
                     ": nothing would be trained; return ", ExampleOf(mode)));
  }
  for (const auto& [name, metric] : spec.metrics) {
    if (absl::Status named = MetricAccumulator::CheckName(name); !named.ok()) {
      return Invalid(spec, mode, named.message());
    }
    TD_RETURN_IF_ERROR(AddMetric(name, metric, spec, mode, graph));
  }
  return graph->status();
}

}  // namespace tandem
