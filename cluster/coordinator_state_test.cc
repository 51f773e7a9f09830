// What rank 0 decides and answers, message by message.
#include "cluster/coordinator_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using rendezvous::ClientMessage;
using rendezvous::ServerMessage;
using ::testing::HasSubstr;

class FakeVisitor : public CoordinatorState::Visitor {
 public:
  void Send(ServerMessage message) override { heard.push_back(std::move(message)); }
  void End() override { ended = true; }
  bool idle() const override { return !ended; }

  std::vector<ServerMessage> heard;
  bool ended = false;
};

class CoordinatorStateTest : public ::testing::Test {
 protected:
  CoordinatorStateTest() : state_(OfTwo(), "chief 0 at host", {}, /*deadline_seconds=*/60, 60) {
    for (int64_t rank = 0; rank < 2; ++rank) {
      ClientMessage hello;
      hello.mutable_hello()->set_protocol(kProtocol);
      hello.mutable_hello()->set_rank(rank);
      hello.mutable_hello()->set_world_size(2);
      hello.mutable_hello()->set_who("at host");
      state_.Add(&visitors_[rank]);
      state_.Hear(&visitors_[rank], hello);
    }
  }

  static Cluster OfTwo() {
    Cluster cluster;
    cluster.world_size = 2;
    return cluster;
  }

  CoordinatorState state_;
  FakeVisitor visitors_[2];
};

TEST_F(CoordinatorStateTest, AllHearThatAllHaveCome) {
  for (const FakeVisitor& visitor : visitors_) {
    ASSERT_EQ(visitor.heard.size(), 2u);
    EXPECT_NE(visitor.heard[0].accepted().session(), 0u);
    EXPECT_EQ(visitor.heard[0].accepted().deadline_seconds(), 60);
    EXPECT_TRUE(visitor.heard[1].has_complete());
    EXPECT_FALSE(visitor.ended);
  }
  EXPECT_NE(visitors_[0].heard[0].accepted().session(), visitors_[1].heard[0].accepted().session());
}

TEST_F(CoordinatorStateTest, WhoGivesUpWithoutAReasonIsAFailureAllTheSame) {
  ClientMessage message;
  message.mutable_gives_up();
  state_.Hear(&visitors_[1], message);
  EXPECT_EQ(ExitCodeFor(state_.roster().verdict()), kExitInternal);
  EXPECT_THAT(std::string(state_.roster().verdict().message()),
              HasSubstr("rank 1 (at host) gave up: it does not say why"));
  EXPECT_TRUE(visitors_[0].ended);
  EXPECT_EQ(visitors_[0].heard.back().failure().exit_code(), kExitInternal);
}

TEST_F(CoordinatorStateTest, RequestsOfStrangersAreRefused) {
  absl::Status answered;
  rendezvous::Request request;
  request.set_kind(rendezvous::Request::SET);
  state_.Ask(request, nullptr, [&](const absl::StatusOr<std::string>& value) { answered = value.status(); });
  EXPECT_TRUE(absl::IsPermissionDenied(answered)) << answered;
  request.set_session(visitors_[0].heard[0].accepted().session());
  state_.Ask(request, nullptr, [&](const absl::StatusOr<std::string>& value) { answered = value.status(); });
  EXPECT_TRUE(answered.ok()) << answered;
}

}  // namespace
}  // namespace tandem
