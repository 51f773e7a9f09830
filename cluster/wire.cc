#include "cluster/wire.h"

#include <grpc/support/log.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/printable.h"

namespace tandem {
namespace {

constexpr int kMaxMessageBytes = static_cast<int>(kMaxValueBytes) + (1 << 16);

// Returns the interval of gRPC's own pings, which only end connections that are left over. Heartbeats notice a loss
// earlier, and tell which process is lost.
int KeepaliveMilliseconds(double deadline_seconds) {
  return static_cast<int>(std::clamp(deadline_seconds, 1.0, 3600.0) * 1000);
}

// Returns true if the message was logged in the last 30 s: connecting is tried several times a second, and gRPC logs
// the same each time.
bool SaidLately(const std::string& message) {
  constexpr std::chrono::seconds kQuiet(30);
  constexpr size_t kMost = 64;
  static std::mutex mutex;
  static auto& said = *new std::map<std::string, std::chrono::steady_clock::time_point>();
  std::lock_guard lock(mutex);
  const auto now = std::chrono::steady_clock::now();
  const auto [entry, is_new] = said.emplace(message, now);
  if (!is_new && now - entry->second < kQuiet) return true;
  entry->second = now;
  if (said.size() > kMost) said.clear();
  return false;
}

void Log(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR || SaidLately(args->message)) return;
  TD_LOG(WARNING) << "gRPC: " << args->message;
}

}  // namespace

std::chrono::duration<double> HeartbeatPeriod(double deadline_seconds) {
  return std::chrono::duration<double>(std::min(deadline_seconds / 4, 1.0));
}

grpc::ChannelArguments ClientArguments(double deadline_seconds) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, KeepaliveMilliseconds(deadline_seconds));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KeepaliveMilliseconds(deadline_seconds));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // http_proxy is for hosts outside of the cluster.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Use a connection of its own, not shared with another channel of this process to the same address.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Reconnecting often and looking the name up again are needed: workers may start long before rank 0 does, and before
  // its name can be looked up.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  return arguments;
}

void SetServerArguments(double deadline_seconds, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  // By default gRPC lets two servers listen at the same port; each would get some of the processes.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1024);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, KeepaliveMilliseconds(deadline_seconds));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KeepaliveMilliseconds(deadline_seconds));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Allow the clients' pings, which are more frequent than gRPC's servers allow by default.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

void LogMessagesOfGrpc() { gpr_set_log_function(Log); }

void ToMessage(const absl::Status& status, rendezvous::Failure* failure) {
  failure->set_code(static_cast<int>(status.code()));
  failure->set_message(std::string(status.message()));
  failure->set_exit_code(ExitCodeFor(status));
}

absl::Status ToStatus(const rendezvous::Failure& failure) {
  const bool known = failure.code() >= 0 && failure.code() <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  const auto code = known ? static_cast<absl::StatusCode>(failure.code()) : absl::StatusCode::kUnknown;
  const absl::Status status(code, failure.message());
  const bool ends = failure.exit_code() > 0 && failure.exit_code() < 256;
  return status.ok() ? status : WithExitCode(status, ends ? failure.exit_code() : ExitCodeFor(status));
}

Acceptance AcceptanceOf(const rendezvous::Accepted& accepted) {
  constexpr double kLeast = 0.01, kMost = 1e8;
  // NaN becomes kLeast.
  const double seconds = accepted.deadline_seconds() >= kLeast ? std::min(accepted.deadline_seconds(), kMost) : kLeast;
  return {.session = accepted.session(), .who = PrintableLine(accepted.who()), .deadline_seconds = seconds};
}

}  // namespace tandem
