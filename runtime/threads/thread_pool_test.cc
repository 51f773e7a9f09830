#include "runtime/threads/thread_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitizers.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(ThreadPoolTest, EveryTaskRunsOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (int64_t n : {0, 1, 2, 5, 1000}) {
      std::vector<int> count(n);
      pool.ParallelFor(n, [&](int64_t i, int thread) {
        ASSERT_LT(thread, threads);
        ++count[i];
      });
      EXPECT_EQ(count, std::vector<int>(n, 1));
    }
  }
}

TEST(ThreadPoolTest, BorrowedThreadsRunEveryTaskOnce) {
  for (int threads : {1, 2, 3}) {
    const auto lender = std::make_shared<ThreadPool>(threads);
    ThreadPool pool(lender);
    EXPECT_EQ(pool.num_threads(), threads);
    for (int64_t n : {0, 1, 2, 5, 1000}) {
      std::vector<int> count(n);
      pool.ParallelFor(n, [&](int64_t i, int thread) {
        ASSERT_LT(thread, threads);
        ++count[i];
      });
      EXPECT_EQ(count, std::vector<int>(n, 1));
    }
  }
}

// The first loop does not end before the second one has.
TEST(ThreadPoolTest, WhoBorrowsWaitsForNobody) {
  const auto lender = std::make_shared<ThreadPool>(2);
  ThreadPool first(lender), second(lender);
  std::atomic<bool> begun = false, done = false;
  std::thread other([&] {
    first.ParallelFor(2, [&](int64_t, int) {
      begun = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!begun) std::this_thread::yield();
  int tasks = 0;
  second.ParallelFor(100, [&](int64_t, int thread) { tasks += thread == 0 ? 1 : 1000; });
  done = true;
  other.join();
  EXPECT_EQ(tasks, 100) << "all on the caller's thread";
}

TEST(ThreadPoolTest, EveryCallerOccupiesAThread) {
  const auto lender = std::make_shared<ThreadPool>(3);
  ThreadPool pool(lender);
  EXPECT_EQ(pool.free_threads(), 3);
  const ThreadPool::Caller one(*lender);
  EXPECT_EQ(pool.free_threads(), 3) << "the caller is one of them";
  const ThreadPool::Caller two(*lender);
  EXPECT_EQ(pool.free_threads(), 2);
  for (int loop = 0; loop < 100; ++loop) {
    pool.ParallelFor(20, [&](int64_t, int thread) { EXPECT_LT(thread, 2); });
  }
  const ThreadPool::Caller three(*lender), four(*lender);
  EXPECT_EQ(pool.free_threads(), 1);
  pool.ParallelFor(20, [&](int64_t, int thread) { EXPECT_EQ(thread, 0); });
}

// The worker is told between two tasks; the rest of its share is the caller's.
TEST(ThreadPoolTest, AWorkerLeavesForAnotherCaller) {
  const auto lender = std::make_shared<ThreadPool>(2);
  ThreadPool pool(lender);
  const ThreadPool::Caller one(*lender);
  std::unique_ptr<ThreadPool::Caller> two;
  std::atomic<bool> begun = false, called = false;
  std::atomic<int> of_worker = 0, tasks = 0;
  pool.ParallelFor(10, [&](int64_t, int thread) {
    ++tasks;
    if (thread == 1) {
      ++of_worker;
      begun = true;
      while (!called) std::this_thread::yield();
      return;
    }
    while (!begun) std::this_thread::yield();
    if (two == nullptr) two = std::make_unique<ThreadPool::Caller>(*lender);
    called = true;
  });
  EXPECT_EQ(tasks, 10);
  EXPECT_EQ(of_worker, 1);
}

// Each thread begins with the first task of its own share, and others' are taken only when these are gone.
TEST(ThreadPoolTest, ThreadsBeginWithTheirShares) {
  ThreadPool pool(2);
  for (int loop = 0; loop < 100; ++loop) {
    std::vector<int> order[2];
    std::atomic<bool> begun[2] = {};
    pool.ParallelFor(10, [&](int64_t i, int thread) {
      order[thread].push_back(static_cast<int>(i));
      begun[thread] = true;
      while (!begun[0] || !begun[1]) std::this_thread::yield();  // neither takes all tasks before the other comes
    });
    ASSERT_EQ(order[0].front(), 0);
    ASSERT_EQ(order[1].front(), 5);
    EXPECT_EQ(order[0].size() + order[1].size(), 10);
    for (const std::vector<int>& mine : order) {
      const int first = mine.front();
      for (int i = 0; i < std::min<int>(5, static_cast<int>(mine.size())); ++i) EXPECT_EQ(mine[i] / 5, first / 5);
    }
  }
}

TEST(ThreadPoolTest, IdleThreadsAreToldOnceAndAllTasksAreTakenThen) {
  ThreadPool pool(3);
  for (int loop = 0; loop < 1000; ++loop) {
    std::atomic<int> begun{0}, told[3] = {};
    pool.ParallelFor(
        7, [&](int64_t, int) { ++begun; },
        [&](int thread) {
          ++told[thread];
          EXPECT_GE(begun + 2, 7);  // two may have been taken and not begun
        });
    EXPECT_EQ(told[0], 1);
    EXPECT_LE(told[1], 1);
    EXPECT_LE(told[2], 1);
  }
  int alone = 0;
  ThreadPool(1).ParallelFor(
      2, [](int64_t, int) {}, [&](int) { ++alone; });
  EXPECT_EQ(alone, 1);
}

TEST(ThreadPoolTest, ManyShortLoopsAndSleeps) {
  ThreadPool pool(3);
  int64_t sum = 0;
  for (int loop = 0; loop < 20000; ++loop) {
    int64_t part[4] = {};
    pool.ParallelFor(4, [&](int64_t i, int) { part[i] = i + loop; });
    for (int64_t p : part) sum += p;
    if (loop % 5000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // let the workers fall asleep
  }
  EXPECT_EQ(sum, 4 * (int64_t{19999} * 20000 / 2) + 6 * 20000);
}

TEST(ThreadPoolTest, LoopsNestAndCallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int> tasks{0}, inside[2] = {};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        pool.ParallelFor(4, [&](int64_t, int thread) {
          EXPECT_EQ(inside[thread].fetch_add(1), 0);  // a thread index belongs to one task at a time
          pool.ParallelFor(2, [&](int64_t, int nested) {
            EXPECT_EQ(nested, thread);
            ++tasks;
          });
          inside[thread].fetch_sub(1);
        });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(tasks, 3 * 50 * 4 * 2);
}

TEST(ThreadPoolTest, WhatATaskThrowsReachesTheCaller) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t n : {1, 2, 100}) {
      for (int64_t bad : {int64_t{0}, n / 2, n - 1}) {
        EXPECT_THROW(pool.ParallelFor(n,
                                      [&](int64_t i, int) {
                                        if (i == bad) throw std::bad_alloc();
                                      }),
                     std::bad_alloc)
            << threads << " threads, task " << bad << " of " << n;
        // The pool is as before.
        std::atomic<int64_t> ran{0};
        pool.ParallelFor(n, [&](int64_t, int) { ++ran; });
        EXPECT_EQ(ran, n);
      }
    }
    // All of them at once: one is thrown on.
    EXPECT_THROW(pool.ParallelFor(100, [](int64_t, int) { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_THROW(pool.ParallelFor(
                     100, [](int64_t, int) {}, [](int) { throw std::bad_alloc(); }),
                 std::bad_alloc);
  }
}

TEST(ThreadPoolTest, CreateHasALimit) {
  auto pool = ThreadPool::Create(3);
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_EQ((*pool)->num_threads(), 3);
  EXPECT_EQ((*ThreadPool::Create(1))->num_threads(), 1);
  const absl::Status status = ThreadPool::Create(100000, "--threads").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("--threads = 100000 is more than 1024"), std::string::npos) << status;
}

// The stack of a thread does not fit into what is left of the address space.
[[noreturn]] void CreateWithoutMemory() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{static_cast<rlim_t>(pages * 4096 + (4 << 20)), static_cast<rlim_t>(pages * 4096 + (4 << 20))};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
  const absl::Status status = ThreadPool::Create(4).status();
  fprintf(stderr, "%s\n", status.ToString().c_str());
  _exit(absl::IsResourceExhausted(status) ? 74 : 1);
}

TEST(ThreadPoolDeathTest, CreateSaysThatThereAreNoThreads) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer maps terabytes of address space";
  EXPECT_EXIT(CreateWithoutMemory(), ::testing::ExitedWithCode(74),
              "RESOURCE_EXHAUSTED: none of 3 threads for steps could be started; threads = 1");
}

}  // namespace
}  // namespace tandem
