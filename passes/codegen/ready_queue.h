// A queue of jobs that any thread may take.
#ifndef TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
#define TANDEM_PASSES_CODEGEN_READY_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace tandem {

template <typename T>
class ReadyQueue {
 public:
  // `most`: the number of jobs that are added at most.
  explicit ReadyQueue(size_t most) { jobs_.reserve(most); }

  // Takes no memory.
  void Add(T* job) {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(job);
    changed_.notify_one();
  }
  // Says that no more jobs will be added.
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Waits for the next job; null when there will be none.
  T* Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (next_ == jobs_.size() && !closed_) changed_.wait(lock);
    return next_ < jobs_.size() ? jobs_[next_++] : nullptr;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T*> jobs_;
  size_t next_ = 0;
  bool closed_ = false;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
