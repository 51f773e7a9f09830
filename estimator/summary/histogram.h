// Histograms in TensorFlow's buckets (tensorflow/core/lib/histogram/histogram.cc).
#ifndef TANDEM_ESTIMATOR_SUMMARY_HISTOGRAM_H_
#define TANDEM_ESTIMATOR_SUMMARY_HISTOGRAM_H_

#include <vector>

#include "base/host_tensor.h"

namespace tandem {

// Limits grow by 10 % from 1e-12 to 1e20, and DBL_MAX is the last; negative limits mirror them, with 0 in between. A
// bucket has the values from the limit before (included) to its own (excluded). Consecutive empty buckets are merged.
struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits;  // right edges of the buckets
  std::vector<double> counts;
};

// Returns the histogram of the finite elements; if there are none, its count is 0. `values` must be of a number type.
Histogram HistogramOf(const HostTensor& values);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_HISTOGRAM_H_
