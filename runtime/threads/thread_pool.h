// A fixed set of threads that run the tasks of one parallel loop at a time.
//
// Each thread has a share of neighbouring tasks of a loop, and takes tasks of other shares only when its own are gone.
// If a program's loops go over the same things in the same order, the same threads run them every time, so that what a
// thread wrote is in its own core's cache. A cache line that two cores have read is the most expensive to write: 33 to
// 37 ns on Zen 4 whatever is prefetched, where a line that only the writer has takes 1 ns and one that another core
// wrote takes 3 ns.
#ifndef TANDEM_RUNTIME_THREADS_THREAD_POOL_H_
#define TANDEM_RUNTIME_THREADS_THREAD_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// A pool has `num_threads` threads in total: the caller of ParallelFor is one of them. Idle workers spin for some
// microseconds, or for a small share of a long loop's time, because the next loop of a step usually begins soon; then
// they sleep. Every thread that runs tasks, including the caller's, has its OpenMP thread count set to 1, so that
// libraries use no other threads inside a task.
class ThreadPool {
 public:
  // Starts as many threads as the system provides, up to `num_threads`, counting the caller's. If there are fewer, it
  // logs a warning.
  explicit ThreadPool(int num_threads);
  // Creates a pool with a Status: InvalidArgument, which names `flag`, for more than kMaxThreads; ResourceExhausted if
  // more threads than the caller's were requested and the system provides none.
  static absl::StatusOr<std::shared_ptr<ThreadPool>> Create(int num_threads, absl::string_view flag = "threads");
  // Makes a pool without threads of its own, for steps that run at the same time as others: it borrows the threads of
  // `lender` for a loop if they are free. If they are not, the caller runs all tasks by itself and waits for nobody.
  // One caller at a time may use it.
  explicit ThreadPool(std::shared_ptr<ThreadPool> lender) : lender_(std::move(lender)), shares_(1) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const {
    return lender_ != nullptr ? lender_->num_threads() : static_cast<int>(workers_.size()) + 1;
  }

  // Counts its thread among the callers of `pool` while it lives. Each caller occupies a processor by itself, so that
  // as many fewer threads of the pool help another caller's loop: they leave a loop between two tasks.
  class Caller {
   public:
    explicit Caller(ThreadPool& pool) : pool_(pool) { pool_.callers_.fetch_add(1, std::memory_order_relaxed); }
    ~Caller() { pool_.callers_.fetch_sub(1, std::memory_order_relaxed); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Returns how many threads a caller's loop may use now, its own thread included. In a pool without Callers these are
  // all.
  int free_threads() const {
    if (lender_ != nullptr) return lender_->free_threads();
    const int others = std::max(callers_.load(std::memory_order_relaxed), 1) - 1;
    return std::max(num_threads() - others, 1);
  }

  // Calls fn(task, thread) for every task in [0, n), each once, by whichever thread is free; `thread` is in [0,
  // num_threads) and no two tasks run with the same one at the same time. Returns when all are done; what tasks wrote
  // is then visible to the caller. Loops of several callers run one after another. A loop inside a task runs on that
  // task's thread alone. An exception that a task throws (the first, if several do) is thrown to the caller when all
  // threads have left the loop; other tasks may not have run then. See the constructor for pools that borrow threads.
  void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t task, int thread)> fn) {
    ParallelFor(n, fn, [](int) {});
  }

  // Does the same as ParallelFor without `idle`. In addition, a thread that finds no task left, while other threads may
  // still run some, calls idle(thread) once. Not every thread need call it, and none does in a loop inside a task.
  void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t task, int thread)> fn,
                   absl::FunctionRef<void(int thread)> idle);

 private:
  using Loop = absl::FunctionRef<void(int64_t, int)>;
  using Idle = absl::FunctionRef<void(int)>;

  // The tasks [next, end) that one thread still has to run.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void Work(int thread);
  void RunAlone(int64_t n, const Loop& fn, const Idle& idle);
  // Runs the loop with the workers; the caller of this method holds caller_.
  void RunWithWorkers(int64_t n, const Loop& fn, const Idle& idle);
  // Runs the loop with the workers if no other loop has them; otherwise does nothing and returns false.
  bool RunIfFree(int64_t n, const Loop& fn, const Idle& idle);
  void RunTasks(const Loop& fn, const Idle& idle, int thread);
  // Stores the exception that is being handled, so that ParallelFor can throw it to the caller.
  void KeepException();

  const std::shared_ptr<ThreadPool> lender_;  // null for a pool with threads of its own
  std::mutex caller_;                         // held by the caller whose loop is running
  alignas(64) std::atomic<int> callers_{0};   // number of Callers that exist
  const Loop* fn_ = nullptr;
  const Idle* idle_ = nullptr;
  std::vector<Share> shares_;                        // indexed by thread, also for threads that could not be started
  alignas(64) std::atomic<uint32_t> generation_{0};  // odd while a loop is open and workers may join it
  alignas(64) std::atomic<int> active_{0};           // number of workers that have joined the loop or are trying to
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<int> caller_sleeps_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> threw_{false};  // true if a task of this loop threw; exception_ is set then
  std::mutex exception_mutex_;
  std::exception_ptr exception_;
  std::vector<std::thread> workers_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_THREADS_THREAD_POOL_H_
