#include "frontends/align.h"

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "graph/ops.h"

namespace tandem::frontends {

Tensor SqueezeTo(const Tensor& x, int rank, SourceLocation loc) {
  Shape shape = x.shape();
  if (!x.ok() || x.rank() != rank + 1 || shape.back() != 1) return x;
  shape.pop_back();
  return Reshape(x, shape, loc);
}

Tensor AlignWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc) {
  Tensor w = SqueezeTo(weights, values.rank(), loc);
  if (!w.ok() || !values.ok()) return Tensor();
  if (w.dtype() != values.dtype()) w = Cast(w, values.dtype(), loc);
  const Shape target = values.shape();
  Shape shape = w.shape();
  bool fits = shape.size() <= target.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] == target[i] || shape[i] == 1;
  if (!fits) {
    return values.graph()->FailAt(op,
                                  absl::StrCat("`weights` ", ShapeString(weights.shape()), " does not fit values ",
                                               ShapeString(target), "; it needs one weight per example"),
                                  loc);
  }
  if (shape == target) return w;
  if (!shape.empty() && shape.size() < target.size()) {
    shape.resize(target.size(), 1);
    w = Reshape(w, shape, loc);
  }
  return Broadcast(w, target, loc);
}

AlignedPair AlignPair(absl::string_view op, const Tensor& labels, const char* name, const Tensor& predictions,
                      SourceLocation loc, int min_rank) {
  AlignedPair operands;
  GraphBuilder* graph = CommonGraph(op, {{"labels", labels}, {name, predictions}}, loc, &operands.failed);
  if (graph == nullptr) return operands;
  auto fail = [&](absl::string_view problem) {
    operands.failed = graph->FailAt(op, problem, loc);
    return operands;
  };
  if (!IsFloat(predictions.dtype())) {
    return fail(absl::StrCat("`", name, "` must be floating point, got ", TypeString(predictions)));
  }
  Tensor y = SqueezeTo(labels, predictions.rank(), loc);
  Tensor p = SqueezeTo(predictions, labels.rank(), loc);
  if (y.shape() != p.shape()) {
    return fail(absl::StrCat("labels ", ShapeString(labels.shape()), " and ", name, " ",
                             ShapeString(predictions.shape()), " must have the same shape",
                             IsInteger(labels.dtype()) && y.rank() == 1 && p.rank() == 2
                                 ? "; of class numbers make one-hot labels, OneHot(labels, classes)"
                             : y.rank() == 1 && p.rank() == 2
                                 ? "; for one number a label, give the last layer one unit"
                                 : "; give the last layer a unit for each number of a label, or Reshape one of them"));
  }
  if (p.rank() < min_rank) {
    return fail(absl::StrCat("`", name, "` must be [b, n] or of higher rank, got ", TypeString(predictions)));
  }
  operands.graph = graph;
  operands.labels = y.dtype() == p.dtype() ? y : Cast(y, p.dtype(), loc);
  operands.predictions = p;
  return operands;
}

}  // namespace tandem::frontends
