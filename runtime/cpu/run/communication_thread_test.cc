#include "runtime/cpu/run/communication_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "base/sanitizers.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(CommunicationThreadTest, CallsRunInOrderOnAThreadOfTheirOwn) {
  const auto thread = *CommunicationThread::Start();
  std::vector<int> order;
  std::thread::id id;
  for (int i = 0; i < 100; ++i) {
    thread->Begin([&, i] {
      id = std::this_thread::get_id();
      order.push_back(i);
      return i == 7 ? absl::UnavailableError("seven") : absl::OkStatus();
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(thread->Wait().ok(), i != 7) << i;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(CommunicationThreadTest, TheCallerGoesOnMeanwhile) {
  const auto thread = *CommunicationThread::Start();
  std::atomic<bool> may_end{false};
  thread->Begin([&] {
    while (!may_end) std::this_thread::yield();
    return absl::OkStatus();
  });
  may_end = true;  // would never be true if Begin waited
  EXPECT_TRUE(thread->Wait().ok());
}

TEST(CommunicationThreadTest, WhatACallThrowsIsAStatus) {
  const auto thread = *CommunicationThread::Start();
  thread->Begin([]() -> absl::Status { throw std::bad_alloc(); });
  thread->Begin([] { return absl::OkStatus(); });
  const absl::Status status = thread->Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_TRUE(thread->Wait().ok());
}

TEST(CommunicationThreadTest, ItsEndWaitsForAllCalls) {
  int calls = 0;
  {
    const auto thread = *CommunicationThread::Start();
    for (int i = 0; i < 10; ++i) {
      thread->Begin([&] {
        ++calls;
        return absl::OkStatus();
      });
    }
  }
  EXPECT_EQ(calls, 10);
}

// The stack of a thread does not fit into what is left of the address space.
[[noreturn]] void StartWithoutMemory() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{static_cast<rlim_t>(pages * 4096 + (4 << 20)), static_cast<rlim_t>(pages * 4096 + (4 << 20))};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
  const absl::Status status = CommunicationThread::Start().status();
  fprintf(stderr, "%s\n", status.ToString().c_str());
  _exit(absl::IsResourceExhausted(status) ? 74 : 1);
}

TEST(CommunicationThreadDeathTest, AThreadThatTheSystemDoesNotGiveIsAStatus) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer maps terabytes of address space";
  EXPECT_EXIT(StartWithoutMemory(), ::testing::ExitedWithCode(74),
              "RESOURCE_EXHAUSTED: cannot start a thread for communication with other processes: .*ulimit -u");
}

}  // namespace
}  // namespace tandem
