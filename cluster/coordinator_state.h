// CoordinatorState: what rank 0 knows about its cluster and how it answers requests, without the network.
#ifndef TANDEM_CLUSTER_COORDINATOR_STATE_H_
#define TANDEM_CLUSTER_COORDINATOR_STATE_H_

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cluster/cluster.h"
#include "cluster/rendezvous.pb.h"
#include "cluster/roster.h"
#include "cluster/shared_store.h"

namespace tandem {

// Not thread-safe. Its methods call visitors and the callbacks of requests, which must not call this object.
class CoordinatorState {
 public:
  // The coordinator's end of the stream of one process.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual void Send(rendezvous::ServerMessage message) = 0;
    // Closes the stream once the messages in the queue are sent.
    virtual void End() = 0;
    // True if nothing is being sent and messages can be sent.
    virtual bool idle() const = 0;

   private:
    friend class CoordinatorState;
    int64_t rank_ = -1;  // the process's rank, once it is admitted
    bool greeted_ = false;
  };

  // The arguments are those of Roster.
  CoordinatorState(const Cluster& cluster, absl::string_view who, const Facts& facts, double deadline_seconds,
                   double start_deadline_seconds);

  // From Add to Remove, a visitor is sent every decision: that all processes have joined, or that one has failed.
  void Add(Visitor* visitor) { visitors_.insert(visitor); }
  void Remove(Visitor* visitor) { visitors_.erase(visitor); }
  void Hear(Visitor* visitor, const rendezvous::ClientMessage& message);
  // To be called when the visitor's stream has ended.
  void Broke(Visitor* visitor);

  // `ticket` identifies the request for Cancel. See SharedStore.
  void Ask(const rendezvous::Request& request, const void* ticket, const SharedStore::Answer& answer);
  // Drops the request with this ticket without answering it. Returns false if there is none.
  bool Cancel(const void* ticket) { return store_.Cancel(ticket); }
  // The time at which to call Expire next.
  SteadyTime NextDeadline() const { return store_.NextDeadline(); }
  void Expire();

  // To be called several times per deadline: finds processes that have been silent for too long, and sends heartbeats
  // to all.
  void Beat();
  // To be called when rank 0's process leaves the cluster.
  void EndOfCoordinator();

  const Roster& roster() const { return roster_; }

 private:
  void Welcome(Visitor* visitor, const rendezvous::Hello& hello);
  // Tells all visitors what has been decided since the last call.
  void Announce();

  const double deadline_seconds_;
  Roster roster_;
  SharedStore store_;
  std::set<Visitor*> visitors_;
  std::map<uint64_t, int64_t> ranks_;  // rank of each admitted process, by session
  std::random_device random_;
  bool announced_complete_ = false, announced_verdict_ = false;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_COORDINATOR_STATE_H_
