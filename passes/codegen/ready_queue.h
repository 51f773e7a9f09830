// Work that waits for any thread.
#ifndef TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
#define TANDEM_PASSES_CODEGEN_READY_QUEUE_H_

#include <deque>

#include "absl/synchronization/mutex.h"

namespace tandem {

template <typename T>
class ReadyQueue {
 public:
  void Add(T* job) {
    absl::MutexLock lock(&mutex_);
    jobs_.push_back(job);
    changed_.Signal();
  }
  // No more will be added.
  void Close() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    changed_.SignalAll();
  }
  // Waits for the next one; null when there will be none.
  T* Take() {
    absl::MutexLock lock(&mutex_);
    while (jobs_.empty() && !closed_) changed_.Wait(&mutex_);
    if (jobs_.empty()) return nullptr;
    T* job = jobs_.front();
    jobs_.pop_front();
    return job;
  }

 private:
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::deque<T*> jobs_;
  bool closed_ = false;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_READY_QUEUE_H_
