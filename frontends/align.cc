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

}  // namespace tandem::frontends
