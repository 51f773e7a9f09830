// Coordinator: the server in rank 0's process to which all processes of a cluster, rank 0 included, are connected.
#ifndef TANDEM_CLUSTER_COORDINATOR_H_
#define TANDEM_CLUSTER_COORDINATOR_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "cluster/cluster.h"
#include "cluster/coordinator_state.h"
#include "cluster/credentials.h"
#include "cluster/meeting_place.h"
#include "cluster/rendezvous.grpc.pb.h"
#include "cluster/roster.h"

namespace tandem {

class Coordinator : public rendezvous::Rendezvous::CallbackService {
 public:
  // Starts listening. FailedPrecondition (2) if it cannot.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(const Cluster& cluster, absl::string_view who,
                                                            const MeetingPlace& place, const Facts& facts,
                                                            double deadline_seconds, double start_deadline_seconds,
                                                            const Credentials& credentials);
  // Waits until the others have left, or know that they will not meet or have failed; at most for the deadline.
  ~Coordinator() override;

  // Returns rank 0's own connection, without the network.
  std::shared_ptr<grpc::Channel> Channel();

  grpc::ServerBidiReactor<rendezvous::ClientMessage, rendezvous::ServerMessage>* Join(
      grpc::CallbackServerContext* context) noexcept override;
  grpc::ServerUnaryReactor* Ask(grpc::CallbackServerContext* context, const rendezvous::Request* request,
                                rendezvous::Reply* reply) noexcept override;

 private:
  class Visitor;  // the stream of one process
  class Question;

  Coordinator(const Cluster& cluster, absl::string_view who, ClaimedPlace claim, const Facts& facts,
              double deadline_seconds, double start_deadline_seconds);
  void Watch();

  const double deadline_seconds_;
  ClaimedPlace claim_;
  std::unique_ptr<grpc::Server> server_;

  std::mutex mutex_;
  std::condition_variable changed_;
  CoordinatorState state_;  // guarded by mutex_
  int64_t calls_ = 0;       // visitors and questions that gRPC still uses
  bool stop_ = false;
  std::thread watch_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_COORDINATOR_H_
