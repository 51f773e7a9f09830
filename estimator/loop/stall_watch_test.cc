#include "estimator/loop/stall_watch.h"

#include <gtest/gtest.h>

#include "base/logging.h"

namespace tandem {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Its own thread would look too seldom to disturb.
StallWatch::Options EveryTenSeconds(const std::atomic<int64_t>* now) {
  return {.seconds = 10, .now = [now] { return now->load(); }};
}

TEST(StallWatch, NamesWhatStandsStillOnceAndSaysWhenItGoesOn) {
  LogCapture log;
  std::atomic<int64_t> now{5 * kSecond};
  StallWatch watch(EveryTenSeconds(&now));
  auto input = watch.Add("The input");
  auto save = watch.Add("The save");
  for (int step = 0; step < 100; ++step) {  // much time, but never long at once
    input->Begin();
    now += kSecond;
    watch.Look();
    input->End();
  }
  EXPECT_EQ(log.Text(), "");
  save->Begin();
  now += 6 * kSecond;
  input->Begin();
  now += 6 * kSecond;
  watch.Look();
  now += kSecond;
  watch.Look();
  EXPECT_EQ(log.Text(), "The save has taken 12 s so far; still waiting.\n");
  EXPECT_EQ(log.Text(LogSeverity::kWarning), log.Text());
  input->End();
  now += kSecond / 2;
  save->End();
  EXPECT_EQ(log.Text(), "The save has taken 12 s so far; still waiting.\nThe save went on after 13.5 s.\n");
  save->Begin();
  save->End();
  now += 100 * kSecond;
  watch.Look();
  EXPECT_EQ(log.entries().size(), 2u) << "nothing goes on any more";
  save->Begin();
  now += 20 * kSecond;
  watch.Look();
  save->End();
  EXPECT_EQ(log.entries().size(), 4u) << "another time is named again";
}

TEST(StallWatch, ZeroSecondsAreNever) {
  LogCapture log;
  StallWatch watch({.seconds = 0});
  StallWatch::Scope scope(watch, "All");
  EXPECT_EQ(log.Text(), "");
}

// Ends in the middle of looks: with a thread sanitizer this is the test of their order.
TEST(StallWatch, EveryNameHasItsEnd) {
  LogCapture log;
  std::atomic<int64_t> now{1};
  StallWatch watch({.seconds = 1e-6, .now = [&] { return now += 1000; }});
  auto activity = watch.Add("It");
  for (int i = 0; i < 20000; ++i) {
    activity->Begin();
    activity->End();
  }
  int open = 0;
  for (const LogEntry& entry : log.entries()) {
    open += entry.message.find("still waiting") != std::string::npos ? 1 : -1;
    EXPECT_TRUE(open == 0 || open == 1);
  }
  EXPECT_EQ(open, 0);
}

}  // namespace
}  // namespace tandem
