#include "runtime/cpu/communication_thread.h"

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(CommunicationThreadTest, CallsRunInOrderOnAThreadOfTheirOwn) {
  CommunicationThread thread;
  std::vector<int> order;
  std::thread::id id;
  for (int i = 0; i < 100; ++i) {
    thread.Begin([&, i] {
      id = std::this_thread::get_id();
      order.push_back(i);
      return i == 7 ? absl::UnavailableError("seven") : absl::OkStatus();
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(thread.Wait().ok(), i != 7) << i;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(CommunicationThreadTest, TheCallerGoesOnMeanwhile) {
  CommunicationThread thread;
  std::atomic<bool> may_end{false};
  thread.Begin([&] {
    while (!may_end) std::this_thread::yield();
    return absl::OkStatus();
  });
  may_end = true;  // would never be true if Begin waited
  EXPECT_TRUE(thread.Wait().ok());
}

TEST(CommunicationThreadTest, WhatACallThrowsIsAStatus) {
  CommunicationThread thread;
  thread.Begin([]() -> absl::Status { throw std::bad_alloc(); });
  thread.Begin([] { return absl::OkStatus(); });
  const absl::Status status = thread.Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_TRUE(thread.Wait().ok());
}

TEST(CommunicationThreadTest, ItsEndWaitsForAllCalls) {
  int calls = 0;
  {
    CommunicationThread thread;
    for (int i = 0; i < 10; ++i) {
      thread.Begin([&] {
        ++calls;
        return absl::OkStatus();
      });
    }
  }
  EXPECT_EQ(calls, 10);
}

}  // namespace
}  // namespace tandem
