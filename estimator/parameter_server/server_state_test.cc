// Times that workers name, which no clock need be able to hold; who is waited for.
#include "estimator/parameter_server/server_state.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/protocol.h"

namespace tandem {
namespace {

using parameters::Reply;
using parameters::Request;

class ServerStateTest : public ::testing::Test {
 protected:
  explicit ServerStateTest(std::optional<int64_t> max_staleness = std::nullopt) {
    ServerOptions options{.who = "ps 0", .workers = 2, .max_staleness = max_staleness};
    options.variables = {{.name = "b", .dtype = DType::kInt64}};
    auto state = ServerState::Create(options, /*program=*/nullptr, /*pool=*/nullptr);
    EXPECT_TRUE(state.ok()) << state.status();
    state_ = *std::move(state);
    for (int64_t rank = 0; rank < 2; ++rank) {
      connections_[rank] = state_->Connect([this, rank](const grpc::ByteBuffer& answer) {
        EXPECT_TRUE(FrameReader().Open(answer, &replies_[rank]).ok());
        ++answers_[rank];
      });
      Request hello;
      hello.mutable_hello()->set_protocol(kParameterProtocol);
      hello.mutable_hello()->set_rank(rank);
      Say(rank, hello);
    }
    Request assign;
    assign.mutable_assign()->add_tensors()->set_name("b");
    assign.mutable_assign()->mutable_tensors(0)->set_dtype(static_cast<int>(DType::kInt64));
    Say(0, assign, "12345678");
    EXPECT_EQ(answers_[0], 2);
    EXPECT_FALSE(replies_[0].has_failure()) << replies_[0].failure().message();
  }

  void Say(int64_t rank, const Request& request, const std::string& tensors = "") {
    state_->Handle(connections_[rank], FrameWithCopies(request, {{tensors.data(), tensors.size()}}));
  }
  // Makes the next update of a worker. Returns whether it is answered at once.
  bool IsAnswered(int64_t rank, int64_t update) {
    Request exchange;
    exchange.mutable_exchange()->set_update(update);
    exchange.mutable_exchange()->set_seconds(1000);
    const int before = answers_[rank];
    Say(rank, exchange);
    return answers_[rank] > before;
  }
  // Whether an update of worker 1 is made at once that comes while the chief holds the server for so long.
  bool UpdatesIn(double seconds) {
    Request hold, exchange;
    hold.mutable_hold()->set_seconds(seconds);
    Say(0, hold);
    exchange.mutable_exchange()->set_update(1);
    const int before = answers_[1];
    Say(1, exchange);
    state_->WaitForEnd(ServerState::Clock::duration::zero());
    return answers_[1] > before;
  }

  std::unique_ptr<ServerState> state_;
  int64_t connections_[2];
  Reply replies_[2];
  int answers_[2] = {0, 0};
};

TEST_F(ServerStateTest, AHoldOfMoreSecondsThanAClockHasLasts) {
  EXPECT_FALSE(UpdatesIn(1e300));
  Request read;
  read.mutable_read()->add_names("b");
  Say(0, read);
  EXPECT_EQ(replies_[0].step(), 0);
  EXPECT_EQ(replies_[1].step(), 1) << "made behind the reading";
}

TEST_F(ServerStateTest, AHoldForNoTimeIsNone) {
  EXPECT_TRUE(UpdatesIn(std::nan("")));
  EXPECT_TRUE(UpdatesIn(-1));
}

class BoundedServerStateTest : public ServerStateTest {
 protected:
  BoundedServerStateTest() : ServerStateTest(/*max_staleness=*/0) {}
};

// Another server may wait for the position that comes with that worker's next update.
TEST_F(BoundedServerStateTest, NobodyWaitsForAChiefThatIsAboutToRead) {
  EXPECT_TRUE(IsAnswered(0, 1));
  EXPECT_FALSE(IsAnswered(1, 1)) << "the chief is computing a gradient of values one update old";
  const int before = answers_[1];
  Request hold, read;
  hold.mutable_hold()->set_seconds(0);
  Say(0, hold);
  EXPECT_EQ(answers_[1], before + 1);
  EXPECT_TRUE(IsAnswered(1, 2)) << "the chief has not read yet";
  read.mutable_read()->add_names("b");
  Say(0, read);
  EXPECT_EQ(replies_[0].step(), 3);
  EXPECT_FALSE(IsAnswered(1, 3)) << "the chief is computing again";
}

TEST_F(ServerStateTest, OneThatIsGoneMayComeBackUnlessItIsNotWaitedFor) {
  Request left;
  left.mutable_others_left()->set_training(1);
  Say(0, left);
  EXPECT_FALSE(replies_[0].others_left());
  state_->Disconnect(connections_[1]);
  Say(0, left);
  EXPECT_FALSE(replies_[0].others_left());
  left.mutable_others_left()->set_without_absent(true);
  Say(0, left);
  EXPECT_TRUE(replies_[0].others_left());
}

}  // namespace
}  // namespace tandem
