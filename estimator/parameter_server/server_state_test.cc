// Times that workers name, which no clock need be able to hold.
#include "estimator/parameter_server/server_state.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/protocol.h"

namespace tandem {
namespace {

using parameters::Reply;
using parameters::Request;

class ServerStateTest : public ::testing::Test {
 protected:
  ServerStateTest() {
    ServerOptions options{.who = "ps 0", .workers = 2};
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
