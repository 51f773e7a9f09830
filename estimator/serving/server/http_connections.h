// HttpConnections: the open connections of an HttpServer.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTIONS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTIONS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/time/time.h"

namespace tandem::serving {

class HttpConnection;

// Thread-safe.
class HttpConnections {
 public:
  // `refused` if it only gets an answer that says so.
  void Add(HttpConnection* connection, std::weak_ptr<HttpConnection> handle, bool refused) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_[connection] = {.handle = std::move(handle), .refused = refused};
    if (refused) ++refused_;
  }
  void Remove(HttpConnection* connection) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = open_.find(connection);
    if (it == open_.end()) return;
    if (it->second.refused) --refused_;
    open_.erase(it);
    if (open_.empty()) empty_.notify_all();
  }
  // The number of those that are not refused, and of those that are.
  int64_t served() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(open_.size()) - refused_;
  }
  int64_t refused() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return refused_;
  }
  std::vector<std::shared_ptr<HttpConnection>> All() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<HttpConnection>> all;
    for (const auto& [connection, entry] : open_) {
      if (std::shared_ptr<HttpConnection> held = entry.handle.lock()) all.push_back(std::move(held));
    }
    return all;
  }
  // From now on no connection begins another request.
  void SetStopping() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // Returns how many are left after the wait.
  int64_t WaitUntilEmpty(absl::Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    empty_.wait_for(lock, absl::ToChronoNanoseconds(timeout), [&] { return open_.empty(); });
    return static_cast<int64_t>(open_.size());
  }

 private:
  struct Entry {
    std::weak_ptr<HttpConnection> handle;
    bool refused = false;
  };

  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::map<HttpConnection*, Entry> open_;  // guarded by mutex_, as the next one
  int64_t refused_ = 0;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_HTTP_CONNECTIONS_H_
