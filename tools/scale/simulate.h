// Simulates a training step on many devices, with all-reduces that overlap the computation.
#ifndef TANDEM_TOOLS_SCALE_SIMULATE_H_
#define TANDEM_TOOLS_SCALE_SIMULATE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "tools/scale/step_model.h"

namespace tandem {

struct BucketForecast {
  double start = 0, end = 0;  // when its all-reduce starts and ends, in seconds into the step
  double stall = 0;           // seconds that the computation waits for this bucket
};

struct Forecast {
  double step = 0;           // seconds of a whole step
  double communication = 0;  // seconds of the all-reduces of all buckets
  double exposed = 0;        // seconds of `communication` during which no device computes
  std::vector<BucketForecast> buckets;
  int worst = -1;  // index of the bucket with the largest stall; -1 if there is no stall
};

// Simulates a step in which every device does the same computation at the same speed (weak scaling: the batch per
// device is constant). Buckets are all-reduced one after another in the order of their numbers, each as soon as it is
// ready; a blocking bucket delays the computation after it. `all_reduce` returns the seconds for a number of bytes.
Forecast Simulate(const StepModel& model, absl::FunctionRef<double(double bytes)> all_reduce);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_SIMULATE_H_
