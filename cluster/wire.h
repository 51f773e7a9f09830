// Settings of gRPC, limits, and conversion of statuses, for both ends of a cluster's connections.
#ifndef TANDEM_CLUSTER_WIRE_H_
#define TANDEM_CLUSTER_WIRE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cluster/rendezvous.pb.h"

namespace tandem {

// The version of the protocol; all processes must have the same.
inline constexpr uint32_t kProtocol = 1;
inline constexpr size_t kMaxValueBytes = size_t{64} << 20;
inline constexpr size_t kMaxNameBytes = 4096;
inline constexpr size_t kMaxHelloBytes = size_t{1} << 20;

// How often a process sends a heartbeat: several times in a deadline.
std::chrono::duration<double> HeartbeatPeriod(double deadline_seconds);

grpc::ChannelArguments ClientArguments(double deadline_seconds);
void SetServerArguments(double deadline_seconds, grpc::ServerBuilder* builder);
// Sends gRPC's error messages to our log.
void LogMessagesOfGrpc();

void ToMessage(const absl::Status& status, rendezvous::Failure* failure);
// Returns the status with its exit code. An unknown code becomes Unknown.
absl::Status ToStatus(const rendezvous::Failure& failure);

// Rank 0's answer to a process that it has accepted.
struct Acceptance {
  uint64_t session = 0;         // identifies the accepted process in its requests; 0 if there is none
  std::string who;              // name of rank 0, on one line
  double deadline_seconds = 0;  // from 0.01 to 1e8
};
Acceptance AcceptanceOf(const rendezvous::Accepted& accepted);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_WIRE_H_
