#include "estimator/estimator_spec.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/metric_accumulator.h"
#include "graph/ops.h"

namespace tandem {
namespace {

absl::Status Invalid(Mode mode, const std::string& problem) {
  return absl::InvalidArgumentError(absl::StrCat("model_fn, mode ", ModeName(mode), ": ", problem));
}

// Whether `tensor` can become an output of `graph`.
absl::Status CheckTensor(const Tensor& tensor, const char* what, Mode mode, const GraphBuilder& graph) {
  if (!tensor.ok()) return Invalid(mode, absl::StrCat(what, " is not set"));
  if (tensor.graph() != &graph) {
    return Invalid(mode, absl::StrCat(what,
                                      " belongs to another graph: it was kept from an earlier call of the "
                                      "model_fn, or the model_fn built on features of another Estimator"));
  }
  return absl::OkStatus();
}

absl::Status AddLoss(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph) {
  TD_RETURN_IF_ERROR(CheckTensor(spec.loss, "the loss", mode, *graph));
  const Shape shape = spec.loss.shape();
  if (!shape.empty() && shape != Shape{1}) {
    return Invalid(mode, absl::StrCat("the loss must be a scalar, it has shape ", ShapeString(shape),
                                      "; reduce it, for example with ReduceMean"));
  }
  graph->Output("loss", shape.empty() ? spec.loss : Reshape(spec.loss, {}));
  return absl::OkStatus();
}

}  // namespace

absl::Status AddSpecOutputs(const EstimatorSpec& spec, Mode mode, GraphBuilder* graph) {
  // The graph's own first error is the cause of everything that looks wrong here.
  TD_RETURN_IF_ERROR(graph->status());
  if (spec.mode != mode) return Invalid(mode, absl::StrCat("it returned a spec for mode ", ModeName(spec.mode)));
  if (mode == Mode::kPredict) {
    if (spec.predictions.empty()) return Invalid(mode, "there are no predictions");
    for (const auto& [name, tensor] : spec.predictions) {
      const std::string what = absl::StrCat("prediction \"", name, "\"");
      TD_RETURN_IF_ERROR(CheckTensor(tensor, what.c_str(), mode, *graph));
      if (tensor.rank() == 0 || tensor.shape()[0] != kBatch) {
        return Invalid(
            mode, absl::StrCat(what, " must have a row for every example, its shape is ", ShapeString(tensor.shape())));
      }
      graph->Output(name, tensor);
    }
    return graph->status();
  }
  TD_RETURN_IF_ERROR(AddLoss(spec, mode, graph));
  for (const auto& [name, metric] : spec.metrics) {
    TD_RETURN_IF_ERROR(MetricAccumulator::CheckName(name));
    TD_RETURN_IF_ERROR(CheckTensor(metric.total, "a metric's total", mode, *graph));
    TD_RETURN_IF_ERROR(CheckTensor(metric.count, "a metric's count", mode, *graph));
    graph->Output(MetricTotalName(name), metric.total);
    graph->Output(MetricCountName(name), metric.count);
  }
  return graph->status();
}

}  // namespace tandem
