// Who is to blame when a process of a cluster is lost, whatever the order in which its loss and what follows are seen.
#include "cluster/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_code.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

constexpr double kDeadline = 4;

class RosterTest : public ::testing::Test {
 protected:
  RosterTest() : roster_(Of(4), "chief 0 at host", {}, kDeadline, /*start_deadline_seconds=*/60, Time(0)) {
    for (int64_t rank = 0; rank < 4; ++rank) EXPECT_TRUE(roster_.Admit(Process(rank), Time(0)).ok());
  }

  static Cluster Of(int64_t world_size) {
    Cluster cluster;
    cluster.world_size = world_size;
    return cluster;
  }
  static Comer Process(int64_t rank) { return Comer{rank, 4, "at host"}; }
  static SteadyTime Time(double seconds) {
    return SteadyTime() + std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  }
  void TicksUntil(double seconds) {
    for (; time_ <= seconds; time_ += 1) roster_.Tick(Time(time_));
  }
  std::string Verdict() const { return std::string(roster_.verdict().message()); }

  Roster roster_;
  double time_ = 0;
};

TEST_F(RosterTest, RankZeroHasItsNameBeforeItComes) {
  Roster roster(Of(4), "chief 0 at host:1, pid 7", {}, kDeadline, /*start_deadline_seconds=*/60, Time(0));
  EXPECT_TRUE(roster.Admit(Process(1), Time(0)).ok());
  EXPECT_EQ(roster.Name(0), "rank 0 (chief 0 at host:1, pid 7)");
  EXPECT_THAT(roster.Missing(), HasSubstr("rank 0 (chief 0 at host:1, pid 7)"));
}

TEST_F(RosterTest, TheFirstBrokenConnectionIsToBlameAndLaterOnesAreNot) {
  roster_.Broke(2, Time(1));
  roster_.Broke(1, Time(1));
  roster_.GaveUp(3, absl::InternalError("mine"), Time(1));
  EXPECT_EQ(Verdict(), "rank 2 (at host) is lost: its connection broke");
  EXPECT_EQ(ExitCodeFor(roster_.verdict()), kExitTemporary);
}

TEST_F(RosterTest, WhoNoticesTheLossOfAnotherIsNotToBlame) {
  roster_.GaveUp(1, absl::UnavailableError("connection closed by peer"), Time(1));
  roster_.Broke(1, Time(1));
  roster_.Tick(Time(1.5));
  EXPECT_EQ(Verdict(), "");
  roster_.Broke(2, Time(2));
  EXPECT_THAT(Verdict(), HasSubstr("rank 2 (at host) is lost"));
}

TEST_F(RosterTest, WhoWaitsForASilentProcessIsNotToBlame) {
  TicksUntil(3);
  roster_.Heard(1, Time(3)), roster_.Heard(3, Time(3));
  roster_.GaveUp(1, absl::DeadlineExceededError("no answer from a peer"), Time(3));
  for (time_ = 4; time_ < 6; ++time_) {
    roster_.Heard(3, Time(time_));
    roster_.Tick(Time(time_));
  }
  EXPECT_THAT(Verdict(), HasSubstr("rank 2 (at host) is lost: it has been silent for 5.0 s"));
}

TEST_F(RosterTest, WhoGivesUpWhileAllOthersLiveIsToBlame) {
  roster_.GaveUp(1, absl::UnavailableError("no network"), Time(1));
  roster_.Heard(2, Time(1.5)), roster_.Tick(Time(1.5));
  EXPECT_EQ(Verdict(), "");
  roster_.Heard(3, Time(2)), roster_.Tick(Time(2));
  EXPECT_EQ(Verdict(), "rank 1 (at host) gave up: no network");
}

TEST_F(RosterTest, AnErrorOfItsOwnIsToBlameAtOnce) {
  roster_.GaveUp(1, absl::InternalError("loss is NaN"), Time(1));
  EXPECT_EQ(Verdict(), "rank 1 (at host) gave up: loss is NaN");
}

TEST_F(RosterTest, AfterAPauseOfItsOwnNobodyIsSilent) {
  TicksUntil(1);
  roster_.Tick(Time(20));
  roster_.Tick(Time(21));
  EXPECT_EQ(Verdict(), "");
}

TEST_F(RosterTest, ConnectionsThatBreakAfterAPauseAreItsOwnFault) {
  TicksUntil(1);
  roster_.Tick(Time(20));
  roster_.Broke(2, Time(20.1));
  EXPECT_EQ(Verdict(), "rank 0 (at host) stood still for 19.0 s, and the others have taken it for lost");
}

TEST_F(RosterTest, APauseIsNoticedByWhateverComesFirst) {
  TicksUntil(1);
  roster_.Broke(2, Time(20));
  EXPECT_EQ(Verdict(), "rank 0 (at host) stood still for 19.0 s, and the others have taken it for lost");
}

TEST_F(RosterTest, WhoHasLeftIsNotMissed) {
  for (int64_t rank : {3, 1, 2}) roster_.Left(rank), roster_.Broke(rank, Time(1));
  TicksUntil(20);
  EXPECT_TRUE(roster_.all_others_left());
  EXPECT_EQ(Verdict(), "");
}

TEST_F(RosterTest, AStrangerDoesNotDisturbThoseThatHaveMet) {
  Comer stranger = Process(1);
  stranger.world_size = 8;
  EXPECT_THAT(roster_.Admit(stranger, Time(1)).message(), HasSubstr("world size: 4 on rank 0, 8 on rank 1"));
  EXPECT_THAT(roster_.Admit(Process(2), Time(1)).message(), HasSubstr("rank 2 is taken"));
  EXPECT_EQ(Verdict(), "");
}

}  // namespace
}  // namespace tandem
