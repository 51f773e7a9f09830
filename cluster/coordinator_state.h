// CoordinatorState: rank 0's knowledge of its cluster, and its answers, without the network.
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

// Not thread-safe. Its methods call visitors and answers, which must not call it.
class CoordinatorState {
 public:
  // The stream of one process.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual void Send(rendezvous::ServerMessage message) = 0;
    // Ends the stream after the messages that are to be sent.
    virtual void End() = 0;
    // True if nothing is being sent and messages can be sent.
    virtual bool idle() const = 0;

   private:
    friend class CoordinatorState;
    int64_t rank_ = -1;  // set when it is admitted
    bool greeted_ = false;
  };

  // The arguments are those of Roster.
  CoordinatorState(const Cluster& cluster, absl::string_view who, const Facts& facts, double deadline_seconds,
                   double start_deadline_seconds);

  // Between Add and Remove a visitor is told all decisions.
  void Add(Visitor* visitor) { visitors_.insert(visitor); }
  void Remove(Visitor* visitor) { visitors_.erase(visitor); }
  void Hear(Visitor* visitor, const rendezvous::ClientMessage& message);
  // Call when the visitor's stream has ended.
  void Broke(Visitor* visitor);

  // `ticket` identifies the request for Cancel. See SharedStore.
  void Ask(const rendezvous::Request& request, const void* ticket, const SharedStore::Answer& answer);
  // Returns false if no such request waits.
  bool Cancel(const void* ticket) { return store_.Cancel(ticket); }
  // The time at which to call Expire next.
  SteadyTime NextDeadline() const { return store_.NextDeadline(); }
  void Expire();

  // Call it several times in each deadline: finds processes that are silent, and sends heartbeats to all.
  void Beat();
  // Call when rank 0 ends.
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
  std::map<uint64_t, int64_t> ranks_;  // by session
  std::random_device random_;
  bool announced_complete_ = false, announced_verdict_ = false;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_COORDINATOR_STATE_H_
