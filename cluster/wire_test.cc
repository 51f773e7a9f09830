// What gRPC says, in our log.
#include "cluster/wire.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tandem
