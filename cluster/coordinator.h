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
  // Starts the server, which listens at `place`. FailedPrecondition (2) if it cannot.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(const Cluster& cluster, absl::string_view who,
                                                            const MeetingPlace& place, const Facts& facts,
                                                            double deadline_seconds, double start_deadline_seconds,
                                                            const Credentials& credentials);
  // Waits, at most for the deadline, until the other processes have left the cluster, or until they know that a process
  // has failed or does not belong to the cluster.
  ~Coordinator() override;

  // Returns an in-process channel for rank 0's own connection, which does not use the network.
  std::shared_ptr<grpc::Channel> Channel();

  grpc::ServerBidiReactor<rendezvous::ClientMessage, rendezvous::ServerMessage>* Join(
      grpc::CallbackServerContext* context) noexcept override;
  grpc::ServerUnaryReactor* Ask(grpc::CallbackServerContext* context, const rendezvous::Request* request,
                                rendezvous::Reply* reply) noexcept override;

 private:
  class Visitor;  // the coordinator's end of the stream of one process
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
  int64_t calls_ = 0;       // number of Visitor and Question objects that gRPC still uses
  bool stop_ = false;
  std::thread watch_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_COORDINATOR_H_
