// Processes that are lost, stopped, give up or leave, and what the others are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cluster/member_test_util.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(MemberFailureTest, AKilledProcessIsNamedToAllOthers) {
  std::vector<Process> p = Met();
  for (int rank : {0, 1, 3}) p[rank].Say("wait");
  p[1].Say("status");
  usleep(200'000);  // they wait
  const auto begin = std::chrono::steady_clock::now();
  p[2].Signal(SIGKILL);
  const std::string lost = absl::StrCat(", pid ", p[2].pid(), ") is lost: its connection broke");
  for (int rank : {0, 1, 3}) {
    EXPECT_THAT(p[rank].Answer(), AllOf(StartsWith("E75 rank 2 (worker 1 at "), HasSubstr(lost)));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::cout << "known on rank " << rank << " after " << time.count() * 1e3 << " ms\n";
  }
  EXPECT_THAT(p[1].Answer(), HasSubstr(lost));
  EXPECT_THAT(p[3].Do("get key"), HasSubstr(lost));
  // What follows does not change it.
  p[1].Say("die");
  p[1].Answer();
  EXPECT_THAT(p[0].Do("status"), HasSubstr(lost));
  EXPECT_THAT(p[3].Do("wait"), HasSubstr(lost));
}

TEST(MemberFailureTest, RequestsEndWhenAProcessIsLost) {
  std::vector<Process> p = Met();
  p[0].Say("get key"), p[1].Say("barrier end"), p[3].Say("agree batch 1");
  usleep(200'000);
  p[2].Signal(SIGKILL);
  for (int rank : {0, 1, 3}) EXPECT_THAT(p[rank].Answer(), StartsWith("E75 rank 2 (worker 1 at "));
}

TEST(MemberFailureTest, RankZeroIsNamedWhenItIsKilled) {
  std::vector<Process> p = Met();
  p[1].Say("get key"), p[2].Say("wait"), p[3].Say("wait");
  usleep(200'000);
  p[0].Signal(SIGKILL);
  for (int rank : {1, 2, 3}) {
    EXPECT_THAT(p[rank].Answer(),
                AllOf(StartsWith("E75 rank 0 (chief 0 at "), HasSubstr("is lost: its connection broke")));
  }
}

TEST(MemberFailureTest, AStoppedProcessIsNamedAndLearnsOfIt) {
  std::vector<Process> p = Met({.deadline = 2});
  p[1].Signal(SIGSTOP);
  for (int rank : {0, 2, 3}) p[rank].Say("wait");
  for (int rank : {0, 2, 3}) {
    EXPECT_THAT(p[rank].Answer(), AllOf(StartsWith("E75 rank 1 (worker 0 at "), HasSubstr("has been silent for 2.")));
  }
  p[1].Signal(SIGCONT);
  EXPECT_THAT(p[1].Do("wait"), StartsWith("E75 rank 1 (worker 0 at "));
}

TEST(MemberFailureTest, RankZeroIsNamedWhenItIsStoppedAndLearnsOfIt) {
  std::vector<Process> p = Met({.deadline = 2});
  p[0].Signal(SIGSTOP);
  for (int rank : {1, 2, 3}) p[rank].Say("wait");
  for (int rank : {1, 2, 3}) {
    EXPECT_THAT(p[rank].Answer(), AllOf(StartsWith("E75 rank 0 (chief 0 at "), HasSubstr("has been silent for 2.")));
    p[rank].Say("leave");
    p[rank].Answer();
  }
  p[0].Signal(SIGCONT);
  EXPECT_THAT(p[0].Do("wait"), AllOf(StartsWith("E75 rank "), HasSubstr("rank 0 (chief 0 at ")));
}

TEST(MemberFailureTest, AJobThatIsStoppedAndContinuedGoesOn) {
  std::vector<Process> p = Met({.deadline = 2});
  for (Process& process : p) process.Signal(SIGSTOP);
  usleep(4'000'000);
  for (Process& process : p) process.Signal(SIGCONT);
  SayToAll(p, "barrier end");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
}

TEST(MemberFailureTest, WhoGivesUpTellsTheOthersWhy) {
  std::vector<Process> p = Met();
  EXPECT_EQ(p[2].Do("fail loss is NaN"), "OK ");
  for (int rank : {0, 1, 3}) {
    EXPECT_THAT(p[rank].Do("wait"),
                AllOf(StartsWith("E1 rank 2 (worker 1 at "), HasSubstr("gave up: fail loss is NaN")));
  }
}

// Also when rank 0 ends at once, and its message comes together with the end of the connection.
TEST(MemberFailureTest, TheOthersHearWhyRankZeroGaveUpBeforeItEnded) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Process> p = Met();
    p[0].Say("fail no such file");
    p[0].Say("leave");
    for (int rank : {1, 2, 3}) {
      ASSERT_THAT(p[rank].Do("wait"), AllOf(StartsWith("E1 rank 0 (chief 0 at "), HasSubstr("gave up: fail no such")));
    }
  }
}

TEST(MemberFailureTest, WhoGivesUpBecauseOfAnotherIsNotToBlame) {
  std::vector<Process> p = Met({.deadline = 3});
  p[2].Signal(SIGSTOP);
  EXPECT_EQ(p[1].Do("fail_because_of_another"), "OK ");
  EXPECT_THAT(p[3].Do("wait"), AllOf(StartsWith("E75 rank 2 "), HasSubstr("silent")));
  EXPECT_THAT(p[1].Do("wait"), AllOf(StartsWith("E75 rank 2 "), HasSubstr("silent")));
}

TEST(MemberFailureTest, LeavingInAnyOrderIsNoFailure) {
  for (std::vector<int> order : {std::vector<int>{0, 1, 2, 3}, {3, 1, 0, 2}}) {
    std::vector<Process> p = Met();
    for (int rank : order) {
      p[rank].Say("leave");
      usleep(50'000);
    }
    for (Process& process : p) EXPECT_EQ(process.Answer(), "OK left");
  }
}

TEST(MemberFailureTest, WhoRemainsGoesOn) {
  std::vector<Process> p = Met();
  EXPECT_EQ(p[1].Do("leave"), "OK left");
  p[0].Say("leave");
  EXPECT_EQ(p[2].Do("set key value"), "OK ");
  EXPECT_EQ(p[3].Do("get key"), "OK value");
  EXPECT_THAT(p[3].Do("barrier end"), AllOf(StartsWith("E75 barrier \"end\": rank "), HasSubstr("has left")));
  EXPECT_EQ(p[2].Do("status"), "OK ");
  EXPECT_EQ(p[2].Do("leave"), "OK left");
  EXPECT_EQ(p[3].Do("leave"), "OK left");
  EXPECT_EQ(p[0].Answer(), "OK left");
}

TEST(MemberFailureTest, RankZeroLeavesLongBeforeTheOthers) {
  std::vector<Process> p = Met({.world_size = 2, .deadline = 1});
  EXPECT_EQ(p[0].Do("leave"), "OK left");
  EXPECT_THAT(p[1].Do("wait"), AllOf(StartsWith("E75 rank 0 (chief 0 at "), HasSubstr("has left before the others")));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::MemberTestMain(argc, argv); }
