// What both ends of a cluster's connections have in common: settings of gRPC, bounds, and statuses in messages.
#ifndef TANDEM_CLUSTER_WIRE_H_
#define TANDEM_CLUSTER_WIRE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cluster/rendezvous.pb.h"

namespace tandem {

// Processes that speak another one do not understand each other.
inline constexpr uint32_t kProtocol = 1;
inline constexpr size_t kMaxValueBytes = size_t{64} << 20;
inline constexpr size_t kMaxNameBytes = 4096;
inline constexpr size_t kMaxHelloBytes = size_t{1} << 20;

// How often a process says that it lives: several times in a deadline.
std::chrono::duration<double> HeartbeatPeriod(double deadline_seconds);

grpc::ChannelArguments ClientArguments(double deadline_seconds);
void SetServerArguments(double deadline_seconds, grpc::ServerBuilder* builder);
// What gRPC has to say goes to our log.
void LogMessagesOfGrpc();

void ToMessage(const absl::Status& status, rendezvous::Failure* failure);
// With its exit code. A code that there is not becomes Unknown.
absl::Status ToStatus(const rendezvous::Failure& failure);

// The place that rank 0 has given a process.
struct Acceptance {
  uint64_t session = 0;         // 0: none
  std::string who;              // rank 0, on one line
  double deadline_seconds = 0;  // from a hundredth to 1e8
};
Acceptance AcceptanceOf(const rendezvous::Accepted& accepted);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_WIRE_H_
