// Roster: knows who has come to a cluster and who has left and, if one is lost, who is to blame. It decides for all
// processes.
#ifndef TANDEM_CLUSTER_ROSTER_H_
#define TANDEM_CLUSTER_ROSTER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cluster/cluster.h"

namespace tandem {

using SteadyTime = std::chrono::steady_clock::time_point;
using Facts = std::map<std::string, std::string>;

// A process's description of itself, which it sends when it wants to join.
struct Comer {
  int64_t rank = -1, world_size = 0;
  std::string who;  // "worker 2 at host, pid 123"
  Facts facts;
};

// The list of the processes that have come and how each is doing. Kept by rank 0. Not thread-safe. The first failure
// is the verdict; later ones change nothing:
//  - If a connection breaks, its process is lost, at once.
//  - If a process is silent for the deadline, it is lost.
//  - If a process gives up, it is to blame. But if its reason is that something is not available, it has probably
//    noticed the loss of another; so the verdict waits until all others have been heard from since.
// Rank 0 is not watched: it is this process.
class Roster {
 public:
  // `who` describes this process, rank 0. Messages to other processes may name it before it has been admitted itself.
  Roster(const Cluster& cluster, absl::string_view who, Facts facts, double deadline_seconds,
         double start_deadline_seconds, SteadyTime now);

  // Returns InvalidArgument, for this process alone, if its rank is taken. A process that differs in world size or
  // facts before all processes have joined ends the cluster: that error is the verdict.
  absl::Status Admit(const Comer& comer, SteadyTime now);
  // The following are for ranks that were admitted.
  void Heard(int64_t rank, SteadyTime now) { peers_[rank].heard = now; }
  void Broke(int64_t rank, SteadyTime now);
  void GaveUp(int64_t rank, const absl::Status& why, SteadyTime now);
  void Left(int64_t rank) { peers_[rank].left = true; }
  // To be called several times per deadline. After a pause in which this process did not run, nobody is considered
  // silent.
  void Tick(SteadyTime now);
  // To be called when rank 0 leaves the cluster. If other processes are still there, that is a failure of the cluster.
  void EndOfCoordinator();

  // OK until something is decided; the same for all processes.
  const absl::Status& verdict() const { return verdict_; }
  int64_t world_size() const { return world_size_; }
  // True if all processes have joined.
  bool complete() const { return static_cast<int64_t>(peers_.size()) == world_size_; }
  // True if all processes that joined, except rank 0, have left or given up.
  bool all_others_left() const;
  // The number of processes that have been admitted or refused so far, whatever their world size.
  int64_t seen() const { return static_cast<int64_t>(peers_.size()) + refused_; }
  // Returns a rank that has left; nothing if none has.
  std::optional<int64_t> a_rank_that_left() const;

  // Returns, for example, "rank 2 (worker 2 at host, pid 123)".
  std::string Name(int64_t rank) const;
  std::string Names(const std::vector<int64_t>& ranks) const;
  // Returns who has not come: "rank 3 (worker 2) has not come; 3 of 4 are there: ranks 0, 1, 2".
  std::string Missing() const;

 private:
  struct Peer {
    std::string who;
    SteadyTime heard;
    bool left = false, gave_up = false;
  };
  struct Suspicion {
    absl::Status verdict;
    SteadyTime since;
  };

  void Decide(absl::Status verdict);
  // Returns true if this process seems not to have run since the last tick, for example because it was suspended.
  // Events that piled up meanwhile may be seen in any order, and before the next tick.
  bool NoticePause(SteadyTime now);
  std::string Difference(const Comer& comer) const;
  std::string MissingRanks(absl::string_view verb) const;

  const int64_t world_size_;
  const bool has_chief_;
  const std::string who_;  // name of rank 0
  const Facts facts_;
  const std::chrono::duration<double> deadline_, start_deadline_;
  const SteadyTime start_;
  std::map<int64_t, Peer> peers_;  // the processes that have been admitted, by rank
  int64_t refused_ = 0;
  SteadyTime last_tick_;
  // The length of this process's last pause, in which it did not run, and when that pause ended.
  std::chrono::duration<double> pause_{0};
  SteadyTime pause_end_;
  std::optional<Suspicion> suspicion_;
  absl::Status verdict_;
};

// Returns, for example, "ranks 0, 1, 2" or "rank 3"; of very many ranks only the first ones.
std::string RankList(const std::vector<int64_t>& ranks);
// Returns the text on one line and not too long, for messages.
std::string Shown(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ROSTER_H_
