// A connection that gives up while what it sends is still on its way.
#include "estimator/parameter_server/server_connection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "cluster/testing_address.h"
#include "estimator/parameter_server/test_server.h"

namespace tandem {
namespace {

// The bytes belong to the caller again: none of them is sent any more.
TEST(ServerConnection, WhoGivesUpSendsNothingMore) {
  const std::string tensor(size_t{64} << 20, 'x');
  for (const bool by_signal : {false, true}) {
    SCOPED_TRACE(by_signal);
    const std::string address = FreeAddress();
    std::promise<void> reads;
    std::atomic<bool> has_come = false;
    test::TestServer server(
        address,
        [&](const parameters::Request&) {
          has_come = true;
          return parameters::Reply();
        },
        [may_read = reads.get_future().share()] { may_read.wait(); });
    ServerConnection connection("ps 0", address, /*deadline_seconds=*/10, *Credentials::Make(std::nullopt));
    EXPECT_EQ(connection.Begin(parameters::Request(), {{tensor.data(), tensor.size()}}), absl::OkStatus());
    const absl::Status status = connection.End(/*seconds=*/0.3, nullptr, [=] { return by_signal; }).status();
    EXPECT_EQ(status.code(), by_signal ? absl::StatusCode::kCancelled : absl::StatusCode::kUnavailable) << status;
    reads.set_value();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_FALSE(has_come);
  }
}

}  // namespace
}  // namespace tandem
