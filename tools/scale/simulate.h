// Simulates a training step on many devices.
#ifndef TANDEM_TOOLS_SCALE_SIMULATE_H_
#define TANDEM_TOOLS_SCALE_SIMULATE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "tools/scale/step_model.h"

namespace tandem {

struct BucketForecast {
  double start = 0, end = 0;  // seconds into the step
  double stall = 0;           // seconds that the step stands still because of this bucket
};

struct Forecast {
  double step = 0;           // seconds
  double communication = 0;  // of all buckets
  double exposed = 0;        // the part of it that no computation hides
  std::vector<BucketForecast> buckets;
  int worst = -1;  // the bucket with the largest stall; -1 when none stalls
};

// Every device computes the same, at the same speed (weak scaling: the batch per device stays). Buckets are combined
// one after another in the order of their numbers, each as soon as it is ready; a blocking one delays what follows.
// `all_reduce` returns the seconds for a number of bytes.
Forecast Simulate(const StepModel& model, absl::FunctionRef<double(double bytes)> all_reduce);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_SIMULATE_H_
