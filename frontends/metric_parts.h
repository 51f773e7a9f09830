// What metrics have in common. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_METRIC_PARTS_H_
#define TANDEM_FRONTENDS_METRIC_PARTS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/metrics.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// The class with the largest number, of one-hot labels or scores [b, ..., classes].
Tensor LargestClass(const Tensor& x, SourceLocation loc);

// Class numbers of labels and predictions, int64 [b], and how many classes there are.
struct ClassIndices {
  Tensor labels, predictions;
  int64_t num_classes = 0;
  bool ok() const { return labels.ok() && predictions.ok(); }
};
// `num_classes`: 0 to take the columns of labels or predictions. Poisoned after an error.
ClassIndices FindClasses(absl::string_view op, const Tensor& labels, const Tensor& predictions, int64_t num_classes,
                         SourceLocation loc);

// The weights in float64 and the shape of `values`; all 1 where there are none.
Tensor DoubleWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc);

// A metric of a graph with an error: the graph has it already.
Metric Failed(const Tensor& poisoned);

// 0 where the divisor is 0.
inline double Quotient(double dividend, double divisor) { return divisor == 0 ? 0 : dividend / divisor; }

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_METRIC_PARTS_H_
