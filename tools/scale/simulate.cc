#include "tools/scale/simulate.h"

#include <algorithm>

namespace tandem {

Forecast Simulate(const StepModel& model, absl::FunctionRef<double(double bytes)> all_reduce) {
  Forecast forecast;
  double link_free = 0;  // seconds into the step at which the link has sent the previous bucket
  double delay = 0;      // seconds by which blocking buckets have delayed the computation after them
  for (const Bucket& bucket : model.buckets) {
    BucketForecast b;
    const double seconds = all_reduce(bucket.bytes);
    const double ready = bucket.ready + delay;
    b.start = std::max(ready, link_free);
    b.end = b.start + seconds;
    link_free = b.end;
    if (bucket.blocking) {
      b.stall = b.end - ready;
      delay += b.stall;
    }
    forecast.communication += seconds;
    forecast.buckets.push_back(b);
  }
  // After the backward pass, the step waits for the buckets one after another.
  double waited = model.compute + delay;
  forecast.exposed = delay;
  for (size_t i = 0; i < model.buckets.size(); ++i) {
    BucketForecast& b = forecast.buckets[i];
    if (model.buckets[i].blocking || b.end <= waited) continue;
    b.stall = b.end - waited;
    forecast.exposed += b.stall;
    waited = b.end;
  }
  forecast.step = waited + model.tail;
  double largest = 0;
  for (size_t i = 0; i < forecast.buckets.size(); ++i) {
    if (forecast.buckets[i].stall > largest) {
      largest = forecast.buckets[i].stall;
      forecast.worst = static_cast<int>(i);
    }
  }
  return forecast;
}

}  // namespace tandem
