// What a server counts, and Prometheus' text of it.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_METRICS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace tandem::serving {

// By which interface a request came.
enum class Api { kRest, kGrpc };

// Counts values in buckets, each of values up to its bound. Thread-safe.
class Histogram {
 public:
  // `bounds` ascend.
  explicit Histogram(std::vector<double> bounds);
  void Observe(double value);
  // Appends the lines of the metric `name`; `labels` are those of each line, such as `model="m"`.
  void Append(absl::string_view name, absl::string_view labels, std::string* text) const;

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<int64_t>> counts_;  // one more than bounds: the last is of larger values
  std::atomic<double> sum_{0};
};

// What is counted for each model. Thread-safe.
class ModelMetrics {
 public:
  ModelMetrics();
  void ObserveRequest(Api api, const absl::Status& status, absl::Duration time);
  void ObserveBatch(int64_t rows, absl::Duration time);
  void AddQueued(int64_t requests) { queued_ += requests; }
  void AddCancelled() { ++cancelled_; }

 private:
  friend class Metrics;
  static constexpr int kCodes = 17;                                     // of absl::StatusCode
  std::array<std::array<std::atomic<int64_t>, kCodes>, 2> requests_{};  // by Api and code
  Histogram request_seconds_, batch_seconds_, batch_rows_;
  std::atomic<int64_t> queued_{0}, cancelled_{0};
};

class Metrics {
 public:
  // Of these models, whose names need no escapes.
  explicit Metrics(const std::vector<std::string>& models);
  // `model` must be one of them.
  ModelMetrics* ForModel(const std::string& model) { return models_.at(model).get(); }
  // Counts an answer of HTTP by its status code.
  void CountHttp(int status);
  void AddConnections(int64_t connections) { connections_ += connections; }
  std::string Text() const;

 private:
  std::map<std::string, std::unique_ptr<ModelMetrics>> models_;
  std::array<std::atomic<int64_t>, 600> http_{};  // by status code
  std::atomic<int64_t> connections_{0};
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_METRICS_H_
