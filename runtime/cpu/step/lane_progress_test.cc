#include "runtime/cpu/step/lane_progress.h"

#include <numeric>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(LaneProgressTest, GivesOutBothEnds) {
  LaneProgress lane;
  lane.Reset(4);
  EXPECT_EQ(lane.claimable(), 3);  // a helper may not begin a lane
  EXPECT_EQ(lane.ClaimLast(), 3);
  EXPECT_EQ(lane.ClaimNext(), 0);
  EXPECT_EQ(lane.claimable(), 2);
  EXPECT_EQ(lane.ClaimLast(), 2);
  EXPECT_EQ(lane.ClaimNext(), 1);
  EXPECT_EQ(lane.claimable(), 0);
  EXPECT_EQ(lane.ClaimNext(), -1);
  EXPECT_EQ(lane.ClaimLast(), -1);
}

TEST(LaneProgressTest, HelpersNeverTakeTheFirstMicrobatch) {
  LaneProgress lane;
  lane.Reset(2);
  EXPECT_EQ(lane.ClaimLast(), 1);
  EXPECT_EQ(lane.claimable(), 0);
  EXPECT_EQ(lane.ClaimLast(), -1);
  EXPECT_EQ(lane.ClaimNext(), 0);
  EXPECT_EQ(lane.ClaimNext(), -1);
  lane.Reset(0);
  EXPECT_EQ(lane.claimable(), -1);
  EXPECT_EQ(lane.ClaimLast(), -1);
  EXPECT_EQ(lane.ClaimNext(), -1);
}

// Whoever claims them, microbatches get their turns in order, each once.
TEST(LaneProgressTest, TurnsAreInOrder) {
  constexpr int kMicrobatches = 300, kHelpers = 3;
  LaneProgress lane;
  for (int round = 0; round < 5; ++round) {
    lane.Reset(kMicrobatches);
    std::vector<int32_t> order;  // not guarded: turns exclude each other
    auto work = [&](auto claim) {
      for (int32_t microbatch; (microbatch = claim()) >= 0;) {
        lane.AwaitTurn(microbatch);
        order.push_back(microbatch);
        lane.Done(microbatch);
      }
    };
    std::vector<std::thread> helpers;
    for (int i = 0; i < kHelpers; ++i) helpers.emplace_back([&] { work([&] { return lane.ClaimLast(); }); });
    work([&] { return lane.ClaimNext(); });
    for (std::thread& t : helpers) t.join();
    std::vector<int32_t> want(kMicrobatches);
    std::iota(want.begin(), want.end(), 0);
    EXPECT_EQ(order, want);
  }
}

}  // namespace
}  // namespace tandem
