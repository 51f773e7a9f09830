// A fixed set of threads that run the tasks of one parallel loop at a time.
#ifndef TANDEM_RUNTIME_THREAD_POOL_H_
#define TANDEM_RUNTIME_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace tandem {

// `num_threads` threads in total: the caller of ParallelFor is one of them. Idle workers spin for some microseconds, in
// which the next loop of a step usually comes, then sleep. Every thread that runs tasks, the caller's included, has its
// OpenMP thread count set to 1: libraries stay inside a task.
class ThreadPool {
 public:
  // At least one thread.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls fn(task, thread) for every task in [0, n), each once, by whichever thread is free; `thread` is in
  // [0, num_threads) and no two tasks run with the same one at the same time. Returns when all are done; what tasks
  // wrote is then visible to the caller. Loops of several callers run one after another. A loop inside a task runs on
  // that task's thread alone. `fn` must not throw.
  void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t task, int thread)> fn);

 private:
  using Loop = absl::FunctionRef<void(int64_t, int)>;
  void Work(int thread);
  void RunTasks(const Loop& fn, int64_t n, int thread);

  std::mutex caller_;  // held by the one caller whose loop runs
  const Loop* fn_ = nullptr;
  int64_t n_ = 0;
  alignas(64) std::atomic<uint32_t> generation_{0};  // odd: a loop is open, and workers may join it
  alignas(64) std::atomic<int64_t> next_{0};         // the next task
  alignas(64) std::atomic<int> active_{0};           // workers that have joined, or try to
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<int> caller_sleeps_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_THREAD_POOL_H_
