// What gRPC says, in our log; and what is taken from messages of other processes.
#include "cluster/wire.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/logging.h"

namespace tandem {
namespace {

TEST(WireTest, GrpcSaysTheSameOnce) {
  grpc_init();
  LogMessagesOfGrpc();
  LogCapture log;
  for (int i = 0; i < 5; ++i) {
    gpr_log(GPR_ERROR, "Handshake failed");
    gpr_log(GPR_ERROR, "No match found for server name: %d", i % 2);
    gpr_log(GPR_INFO, "nothing of interest");
  }
  EXPECT_EQ(log.Text(),
            "gRPC: Handshake failed\ngRPC: No match found for server name: 0\n"
            "gRPC: No match found for server name: 1\n");
  grpc_shutdown();
}

TEST(WireTest, ADeadlineIsOneThatClocksCanHold) {
  const auto seconds = [](double said) {
    rendezvous::Accepted accepted;
    accepted.set_deadline_seconds(said);
    return AcceptanceOf(accepted).deadline_seconds;
  };
  EXPECT_EQ(seconds(30), 30);
  EXPECT_EQ(seconds(std::nan("")), 0.01);
  EXPECT_EQ(seconds(-1), 0.01);
  EXPECT_EQ(seconds(std::numeric_limits<double>::infinity()), 1e8);
}

TEST(WireTest, NamesFromOtherProcessesAreOneLine) {
  rendezvous::Accepted accepted;
  accepted.set_session(7);
  accepted.set_who("rank 0\n\x1b[2J");
  EXPECT_EQ(AcceptanceOf(accepted).session, 7u);
  EXPECT_EQ(AcceptanceOf(accepted).who, "rank 0\\x0a\\x1b[2J");
}

}  // namespace
}  // namespace tandem
