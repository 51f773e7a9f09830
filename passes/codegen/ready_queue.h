// A queue of jobs that any thread may take.
#ifndef TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
#define TANDEM_PASSES_CODEGEN_READY_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <mutex>

namespace tandem {

template <typename T>
class ReadyQueue {
 public:
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
    while (jobs_.empty() && !closed_) changed_.wait(lock);
    if (jobs_.empty()) return nullptr;
    T* job = jobs_.front();
    jobs_.pop_front();
    return job;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T*> jobs_;
  bool closed_ = false;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
