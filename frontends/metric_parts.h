// Helpers that metrics share. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_METRIC_PARTS_H_
#define TANDEM_FRONTENDS_METRIC_PARTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/metrics.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// Returns the class with the largest number in one-hot labels or scores [b, ..., classes].
Tensor LargestClass(const Tensor& x, SourceLocation loc);

// Class numbers of labels and predictions, int64 [b], and the number of classes.
struct ClassIndices {
  Tensor labels, predictions;
  int64_t num_classes = 0;
  bool ok() const { return labels.ok() && predictions.ok(); }
};
// Converts labels and predictions to class numbers. If `num_classes` is 0, it is the number of columns of labels or
// predictions. After an error, the results are not ok().
ClassIndices FindClasses(absl::string_view op, const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                         SourceLocation loc);

// Returns the weights in float64 with the shape of `values`. They are all 1 if `weights` is empty.
Tensor DoubleWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc);

// Returns the metric for a graph with an error, which the graph has already recorded.
Metric Failed(const Tensor& poisoned);

// Returns dividend / divisor, or 0 if the divisor is 0.
inline double Quotient(double dividend, double divisor) { return divisor == 0 ? 0 : dividend / divisor; }

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_METRIC_PARTS_H_
