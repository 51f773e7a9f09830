#include "estimator/serving/server/batcher.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "base/threads.h"

namespace tandem::serving {
namespace {

// Returns the inputs of all requests, one behind the other.
NamedTensors Concatenated(const std::vector<PredictRequest>& batch) {
  int64_t rows = 0;
  for (const PredictRequest& request : batch) rows += request.rows;
  NamedTensors all;
  for (const auto& [name, first] : batch[0].inputs) {
    Shape shape = first.shape();
    shape[0] = rows;
    HostTensor whole(first.dtype(), std::move(shape));
    char* next = static_cast<char*>(whole.raw());
    for (const PredictRequest& request : batch) {
      const HostTensor& part = request.inputs.at(name);
      if (part.byte_size() > 0) std::memcpy(next, part.raw(), part.byte_size());
      next += part.byte_size();
    }
    all[name] = std::move(whole);
  }
  return all;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Batcher>> Batcher::Start(const BatchOptions& options, PredictFn predict,
                                                        ModelMetrics* metrics) {
  std::unique_ptr<Batcher> batcher(new Batcher(options, std::move(predict), metrics));
  TD_ASSIGN_OR_RETURN(batcher->threads_,
                      StartThreads("batches of predictions", options.threads, [b = batcher.get()](int) { b->Work(); }));
  return batcher;
}

Batcher::Batcher(const BatchOptions& options, PredictFn predict, ModelMetrics* metrics)
    : options_(options), predict_(std::move(predict)), metrics_(metrics) {}

Batcher::~Batcher() { Drain(); }

absl::Status Batcher::Add(PredictRequest* request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (draining_) return absl::AbortedError("this version of the model is being unloaded");
    if (static_cast<int64_t>(queue_.size()) >= options_.max_queued) {
      return absl::ResourceExhaustedError(
          absl::StrCat(queue_.size(), " requests wait for this model already, which is the limit; try again later"));
    }
    queued_rows_ += request->rows;
    queue_.push_back({std::move(*request), SteadyNow() + options_.timeout});
    metrics_->AddQueued(1);
  }
  changed_.notify_one();
  return absl::OkStatus();
}

void Batcher::Drain() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    draining_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Batcher::Work() {
  for (;;) {
    std::vector<PredictRequest> batch = NextBatch();
    if (batch.empty()) return;
    Answer(std::move(batch));
  }
}

std::vector<PredictRequest> Batcher::NextBatch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!Ready()) {
    if (!queue_.empty()) {
      changed_.wait_until(lock,
                          std::chrono::steady_clock::time_point(absl::ToChronoNanoseconds(queue_.front().deadline)));
    } else if (draining_) {
      return {};
    } else {
      changed_.wait(lock);
    }
  }
  std::vector<PredictRequest> batch = TakeBatch();
  // Another thread may sleep, and nobody would look at what is left.
  if (!queue_.empty()) changed_.notify_one();
  return batch;
}

bool Batcher::Ready() const {
  if (queue_.empty()) return false;
  return draining_ || queued_rows_ >= options_.max_rows || queue_.front().deadline <= SteadyNow();
}

std::vector<PredictRequest> Batcher::TakeBatch() {
  std::vector<PredictRequest> batch;
  int64_t rows = 0;
  while (!queue_.empty() && (batch.empty() || rows + queue_.front().request.rows <= options_.max_rows)) {
    rows += queue_.front().request.rows;
    queued_rows_ -= queue_.front().request.rows;
    batch.push_back(std::move(queue_.front().request));
    queue_.pop_front();
  }
  metrics_->AddQueued(-static_cast<int64_t>(batch.size()));
  return batch;
}

void Batcher::Answer(std::vector<PredictRequest> batch) {
  std::vector<PredictRequest> wanted;
  for (PredictRequest& request : batch) {
    if (request.cancelled == nullptr || !request.cancelled->load()) {
      wanted.push_back(std::move(request));
    } else {
      metrics_->AddCancelled();
      request.done(absl::CancelledError("the client has gone away"));
    }
  }
  if (wanted.empty()) return;
  absl::StatusOr<NamedTensors> outputs = Compute(wanted);
  if (!outputs.ok() && wanted.size() > 1) {
    // One of the requests is the reason, perhaps; the others get their predictions.
    for (PredictRequest& request : wanted) {
      std::vector<PredictRequest> alone;
      alone.push_back(std::move(request));
      Answer(std::move(alone));
    }
    return;
  }
  if (!outputs.ok()) return wanted[0].done(outputs.status());
  const auto shared = std::make_shared<const NamedTensors>(*std::move(outputs));
  int64_t begin = 0;
  for (PredictRequest& request : wanted) {
    request.done(Prediction{shared, begin, request.rows});
    begin += request.rows;
  }
}

absl::StatusOr<NamedTensors> Batcher::Compute(const std::vector<PredictRequest>& batch) {
  const absl::Duration start = SteadyNow();
  absl::StatusOr<NamedTensors> outputs = CatchResourceErrors("a batch of predictions", [&] {
    return batch.size() == 1 ? predict_(batch[0].inputs) : predict_(Concatenated(batch));
  });
  int64_t rows = 0;
  for (const PredictRequest& request : batch) rows += request.rows;
  metrics_->ObserveBatch(rows, SteadyNow() - start);
  return outputs;
}

}  // namespace tandem::serving
