#include "frontends/metric_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem::frontends {
namespace {

// Returns class numbers of shape [b]. For one-hot labels or scores, the class is that of the largest number; for a
// shape [b, 1] the only column has the class numbers. `name` is the name of the argument of `op`, for errors.
Tensor ClassNumbers(absl::string_view op, absl::string_view name, const Tensor& x, SourceLocation loc) {
  Tensor y = SqueezeTo(x, 1, loc);
  if (y.rank() == 2) return LargestClass(y, loc);
  if (y.rank() == 1) return y;
  return x.graph()->FailAt(op, absl::StrCat("`", name, "` must be [b] or [b, classes], got ", TypeString(x)), loc);
}

}  // namespace

Tensor LargestClass(const Tensor& x, SourceLocation loc) {
  return ArgMax(x.dtype() == DType::kUInt8 ? Cast(x, DType::kInt32, loc) : x, -1, loc);
}

ClassIndices FindClasses(absl::string_view op, const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                         SourceLocation loc) {
  ClassIndices classes;
  Tensor failed;
  GraphBuilder* graph = CommonGraph(op, {{"labels", labels}, {"predictions", predictions}}, loc, &failed);
  if (graph == nullptr) return {failed, failed};
  auto fail = [&](absl::string_view problem) {
    classes.labels = classes.predictions = graph->FailAt(op, problem, loc);
    return classes;
  };
  if (num_classes < 0) return fail(absl::StrCat("`num_classes` must be at least 1, got ", num_classes));
  classes.num_classes = num_classes;
  auto numbers = [&](absl::string_view name, const Tensor& x) {
    Tensor y = ClassNumbers(op, name, x, loc);
    if (!y.ok()) return y;
    const int64_t columns = x.rank() == 2 ? x.shape()[1] : 1;
    if (columns > 1 && classes.num_classes == 0) classes.num_classes = columns;
    if (columns > 1 && columns != classes.num_classes) {
      return graph->FailAt(
          op, absl::StrCat("`", name, "` ", TypeString(x), " do not fit ", classes.num_classes, " classes"), loc);
    }
    if (!IsInteger(y.dtype())) {
      return graph->FailAt(op,
                           absl::StrCat("`", name, "` of shape [b] must be class numbers, integers, got ",
                                        TypeString(x), "; convert them with Cast(", name, ", DType::kInt32)"),
                           loc);
    }
    return y.dtype() == DType::kInt64 ? y : Cast(y, DType::kInt64, loc);
  };
  classes.labels = numbers("labels", labels);
  classes.predictions = numbers("predictions", predictions);
  if (classes.ok() && classes.num_classes == 0) {
    return fail("the number of classes is unknown; set `num_classes`, or give scores [b, classes] as predictions");
  }
  return classes;
}

Tensor DoubleWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc) {
  Tensor ones = Broadcast(ScalarConstant(values.graph(), 1, DType::kFloat64, loc), values.shape(), loc);
  if (weights.empty()) return ones;
  Tensor failed;
  if (CommonGraph(op, {{"values", values}, {"weights", weights}}, loc, &failed) == nullptr) return failed;
  return AlignWeights(op, weights, ones, loc);
}

Metric Failed(const Tensor& poisoned) { return {poisoned, poisoned}; }

}  // namespace tandem::frontends
