// CoordinatorState: what rank 0 knows of its cluster, and what it answers, without the network.
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

// Not thread-safe. Visitors and answers are called from inside of its calls, and must not call it.
class CoordinatorState {
 public:
  // The stream of one process.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual void Send(rendezvous::ServerMessage message) = 0;
    // Ends the stream, after what is to be sent.
    virtual void End() = 0;
    // Whether nothing is being sent, and something can be.
    virtual bool idle() const = 0;

   private:
    friend class CoordinatorState;
    int64_t rank_ = -1;  // once it is admitted
    bool greeted_ = false;
  };

  // As for Roster.
  CoordinatorState(const Cluster& cluster, absl::string_view who, const Facts& facts, double deadline_seconds,
                   double start_deadline_seconds);

  // From Add to Remove a visitor is told what is decided.
  void Add(Visitor* visitor) { visitors_.insert(visitor); }
  void Remove(Visitor* visitor) { visitors_.erase(visitor); }
  void Hear(Visitor* visitor, const rendezvous::ClientMessage& message);
  // The visitor's stream has ended.
  void Broke(Visitor* visitor);

  // `ticket` is for Cancel. As in SharedStore.
  void Ask(const rendezvous::Request& request, const void* ticket, const SharedStore::Answer& answer);
  // False when no such request waits.
  bool Cancel(const void* ticket) { return store_.Cancel(ticket); }
  // When Expire is to be called next.
  SteadyTime NextDeadline() const { return store_.NextDeadline(); }
  void Expire();

  // To be called several times in a deadline: looks who is silent, and shows all that rank 0 lives.
  void Beat();
  // Rank 0 ends.
  void EndOfCoordinator();

  const Roster& roster() const { return roster_; }

 private:
  void Welcome(Visitor* visitor, const rendezvous::Hello& hello);
  // Tells all what has been decided since it was last called.
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
