// Metrics as pairs of sums over a batch. The host adds totals and counts of all batches in double precision and
// divides at the end, so that the result is exact over the whole set: every example counts the same.
#ifndef TANDEM_FRONTENDS_METRICS_H_
#define TANDEM_FRONTENDS_METRICS_H_

#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

// Both are scalars of a floating-point type, summed over the global batch; those of this file are summed in float64,
// but for counts that are known without a sum. The metric is (sum of totals) / (sum of counts).
struct Metric {
  Tensor total;
  Tensor count;
  bool ok() const { return total.ok() && count.ok(); }
};

namespace metrics {

// The share of examples whose prediction is right. `labels`: class numbers [b] or [b, 1], or one-hot [b, classes];
// `predictions`: class numbers [b] (ArgMax(logits, -1)), or scores [b, classes], whose largest counts.
// `weights` [b]: the weight of each example; empty: all 1.
Metric Accuracy(const Tensor& labels, const Tensor& predictions, const Tensor& weights = {},
                SourceLocation loc = SourceLocation::Current());

// The mean of `values` ([b] or [b, ...]), weighted per example. A scalar, e.g. a mean over the batch already, is
// weighted by the number of examples of its batch and takes no weights.
Metric Mean(const Tensor& values, const Tensor& weights = {}, SourceLocation loc = SourceLocation::Current());

}  // namespace metrics
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_METRICS_H_
