#include "runtime/threads/thread_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/library_exit.h"
#include "base/logging.h"
#include "base/one_omp_thread.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

// How long idle threads spin. It is longer than the serial parts of a step, and short enough not to waste a core that
// is shared. Waking a thread takes 30 to 80 microseconds on a virtual machine.
constexpr std::chrono::microseconds kMinSpinTime(50), kMaxSpinTime(1000);
// Threads spin for 1 / kSpinShare of the time that the loop took, but between kMinSpinTime and kMaxSpinTime. The longer
// the tasks of a loop are, the further apart are the times at which threads leave it.
constexpr int kSpinShare = 32;
constexpr int kSpins = 16;  // pauses between two readings of the clock; a pause takes 26 ns on Zen 4

constexpr char kRunning[] = "running a step";

thread_local int current_thread = -1;  // in a task: index of this thread in its pool; else -1

void Pause() { __builtin_ia32_pause(); }

template <typename T>
void FutexWait(std::atomic<T>& word, T value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

template <typename T>
void FutexWakeAll(std::atomic<T>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

// Returns when `word` is no longer `value`: spins for the time `spin`, then sleeps.
template <typename T>
void WaitWhileEqual(std::atomic<T>& word, T value, Clock::duration spin, std::atomic<int>& sleepers) {
  static_assert(sizeof(T) == 4, "a futex has 4 bytes");
  const Clock::time_point start = Clock::now();
  do {
    for (int i = 0; i < kSpins; ++i) {
      if (word.load(std::memory_order_acquire) != value) return;
      Pause();
    }
  } while (Clock::now() - start < spin);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  while (word.load(std::memory_order_seq_cst) == value) FutexWait(word, value);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

// Returns how long to spin after a loop that began at `start`.
Clock::duration SpinAfter(Clock::time_point start) {
  return std::clamp<Clock::duration>((Clock::now() - start) / kSpinShare, kMinSpinTime, kMaxSpinTime);
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) : shares_(std::max(num_threads, 1)) {
  absl::StatusOr<std::vector<std::thread>> workers =
      StartThreads("steps", num_threads - 1, [this](int i) { Work(i + 1); });
  if (workers.ok()) {
    workers_ = *std::move(workers);
  } else {
    TD_LOG(WARNING) << "going on with one thread: " << workers.status().message();
  }
}

absl::StatusOr<std::shared_ptr<ThreadPool>> ThreadPool::Create(int num_threads, absl::string_view flag) {
  TD_RETURN_IF_ERROR(CheckThreadCount(flag, num_threads));
  return CatchResourceErrors("starting threads", [&]() -> absl::StatusOr<std::shared_ptr<ThreadPool>> {
    auto pool = std::make_shared<ThreadPool>(num_threads);
    if (num_threads <= 1 || pool->num_threads() > 1) return pool;
    return absl::ResourceExhaustedError(
        absl::StrCat("none of ", num_threads - 1, " threads for steps could be started; ", flag,
                     " = 1 needs none, and the limit of processes (ulimit -u) or of memory may be raised"));
  });
}

ThreadPool::~ThreadPool() {
  std::lock_guard<std::mutex> lock(caller_);
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(2, std::memory_order_seq_cst);
  FutexWakeAll(generation_);
  for (std::thread& t : workers_) t.join();
}

void ThreadPool::RunTasks(const Loop& fn, const Idle& idle, int thread) {
  const ExitMeansOutOfMemory scope(kRunning);
  current_thread = thread;
  const int n = num_threads();
  try {
    for (int k = 0; k < n; ++k) {
      Share& share = shares_[(thread + k) % n];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      // A worker leaves when another caller needs its processor. What it leaves is run by the caller of the loop, which
      // is thread 0 and always stays.
      for (int64_t i;
           thread < free_threads() && (i = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
        fn(i, thread);
      }
    }
    if (thread < free_threads()) idle(thread);
  } catch (...) {
    KeepException();
  }
  current_thread = -1;
}

void ThreadPool::KeepException() {
  std::lock_guard<std::mutex> lock(exception_mutex_);
  if (threw_.exchange(true, std::memory_order_relaxed)) return;
  exception_ = std::current_exception();
}

// A worker that wakes up late finds the loop closed and delays nobody. The worker first increments active_ and then
// checks whether the loop is still open, while the caller first closes the loop and then reads active_.
void ThreadPool::Work(int thread) {
  const OneOmpThread one_omp_thread(kRunning);
  uint32_t last = 0;
  Clock::duration spin = kMinSpinTime;
  for (;;) {
    uint32_t generation = generation_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return;
    if (generation % 2 == 0 || generation == last) {
      WaitWhileEqual(generation_, generation, spin, sleepers_);
      continue;
    }
    active_.fetch_add(1, std::memory_order_seq_cst);
    if (generation_.load(std::memory_order_seq_cst) == generation) {
      const Clock::time_point start = Clock::now();
      RunTasks(*fn_, *idle_, thread);
      spin = SpinAfter(start);
    }
    if (active_.fetch_sub(1, std::memory_order_seq_cst) == 1 && caller_sleeps_.load(std::memory_order_seq_cst) > 0) {
      FutexWakeAll(active_);
    }
    last = generation;
  }
}

void ThreadPool::ParallelFor(int64_t n, Loop fn, Idle idle) {
  if (current_thread >= 0) {
    for (int64_t i = 0; i < n; ++i) fn(i, current_thread);
    return;
  }
  const OneOmpThread one_omp_thread(kRunning);
  if (lender_ != nullptr) {
    if (n <= 1 || !lender_->RunIfFree(n, fn, idle)) RunAlone(n, fn, idle);
    return;
  }
  std::lock_guard<std::mutex> lock(caller_);
  if (n <= 1 || workers_.empty()) {
    RunAlone(n, fn, idle);
  } else {
    RunWithWorkers(n, fn, idle);
  }
}

void ThreadPool::RunAlone(int64_t n, const Loop& fn, const Idle& idle) {
  const ExitMeansOutOfMemory scope(kRunning);
  const absl::Cleanup leave = [] { current_thread = -1; };
  current_thread = 0;
  for (int64_t i = 0; i < n; ++i) fn(i, 0);
  idle(0);
}

bool ThreadPool::RunIfFree(int64_t n, const Loop& fn, const Idle& idle) {
  if (free_threads() == 1) return false;
  const std::unique_lock<std::mutex> lock(caller_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  RunWithWorkers(n, fn, idle);
  return true;
}

void ThreadPool::RunWithWorkers(int64_t n, const Loop& fn, const Idle& idle) {
  fn_ = &fn;
  idle_ = &idle;
  const int64_t threads = num_threads();
  for (int64_t t = 0; t < threads; ++t) {
    shares_[t].next.store(n / threads * t + std::min(n % threads, t), std::memory_order_relaxed);
    shares_[t].end = n / threads * (t + 1) + std::min(n % threads, t + 1);
  }
  const Clock::time_point start = Clock::now();
  generation_.fetch_add(1, std::memory_order_seq_cst);  // opens the loop
  if (sleepers_.load(std::memory_order_seq_cst) > 0) FutexWakeAll(generation_);
  RunTasks(fn, idle, 0);
  generation_.fetch_add(1, std::memory_order_seq_cst);  // closes the loop
  const Clock::duration spin = SpinAfter(start);
  for (int left; (left = active_.load(std::memory_order_seq_cst)) > 0;) {
    WaitWhileEqual(active_, left, spin, caller_sleeps_);
  }
  if (threw_.load(std::memory_order_relaxed)) {
    threw_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(exception_, nullptr));
  }
}

}  // namespace tandem
