#include "runtime/thread_pool.h"

#include <chrono>
#include <thread>

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

}  // namespace
}  // namespace tandem
