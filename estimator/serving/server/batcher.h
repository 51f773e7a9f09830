// Batcher: puts requests for one version of a model together and computes them by a few threads.
//
// A batch begins with the request that waits longest. It is computed as soon as it has BatchOptions.max_rows rows, or
// its first request has waited for BatchOptions.timeout, and a thread is free; requests that come later join the next
// one. A request is never divided; one with more rows than a batch is a batch by itself.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_BATCHER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_BATCHER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/named_tensors.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/prediction.h"

namespace tandem::serving {

class Batcher {
 public:
  // Computes a batch; called by several threads at once.
  using PredictFn = std::function<absl::StatusOr<NamedTensors>(const NamedTensors& inputs)>;

  // `options.max_rows` must be above 0. `metrics` must live longer.
  static absl::StatusOr<std::unique_ptr<Batcher>> Start(const BatchOptions& options, PredictFn predict,
                                                        ModelMetrics* metrics);
  ~Batcher();  // drains
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Takes `*request` if the result is OK, and leaves it alone otherwise. ResourceExhausted if too many wait; Aborted
  // after Drain.
  absl::Status Add(PredictRequest* request);

  // Answers what waits, ends the threads, and takes nothing more. To be called by one thread, not by one of its own.
  void Drain();

 private:
  struct Waiting {
    PredictRequest request;
    absl::Duration deadline;  // by SteadyNow, when its batch is computed at the latest
  };

  Batcher(const BatchOptions& options, PredictFn predict, ModelMetrics* metrics);
  void Work();
  // Waits for the next batch and returns its requests; none after Drain, when nothing waits any more.
  std::vector<PredictRequest> NextBatch();
  // True if the batch of the request that waits longest is to be computed now.
  bool Ready() const;
  // Takes the next requests from the queue that fit into a batch.
  std::vector<PredictRequest> TakeBatch();
  void Answer(std::vector<PredictRequest> batch);
  absl::StatusOr<NamedTensors> Compute(const std::vector<PredictRequest>& batch);

  const BatchOptions options_;
  const PredictFn predict_;
  ModelMetrics* const metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> queue_;  // guarded by mutex_, as the next two
  int64_t queued_rows_ = 0;
  bool draining_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_BATCHER_H_
