// Roster: who has come to a cluster, who has left, and, when one is lost, who is to blame. It decides for all
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

// What a process says about itself when it comes.
struct Comer {
  int64_t rank = -1, world_size = 0;
  std::string who;  // "worker 2 at host, pid 123"
  Facts facts;
};

// Kept by rank 0. Not thread-safe. The first failure is the verdict; what follows from it changes nothing:
//  - a connection that breaks is the loss of its process, at once;
//  - silence is, when it has lasted for the deadline;
//  - a process that gives up is to blame, but not at once when its reason is that something is not available: then it
//    is likely to have noticed the loss of another. It waits until all others have been heard from since.
// Rank 0 is not watched: it is this process.
class Roster {
 public:
  // `who` is rank 0, this process, which others hear of before it comes itself.
  Roster(const Cluster& cluster, absl::string_view who, Facts facts, double deadline_seconds,
         double start_deadline_seconds, SteadyTime now);

  // InvalidArgument for this process alone when its rank is taken. A process that differs in world size or facts while
  // the processes meet is the end for all: the verdict.
  absl::Status Admit(const Comer& comer, SteadyTime now);
  // Of ranks that were admitted.
  void Heard(int64_t rank, SteadyTime now) { peers_[rank].heard = now; }
  void Broke(int64_t rank, SteadyTime now);
  void GaveUp(int64_t rank, const absl::Status& why, SteadyTime now);
  void Left(int64_t rank) { peers_[rank].left = true; }
  // To be called several times in a deadline. After a pause of the caller nobody is taken for silent.
  void Tick(SteadyTime now);
  // Rank 0 ends: nobody can wait for anybody any more.
  void EndOfCoordinator();

  // OK until then: the same for all processes.
  const absl::Status& verdict() const { return verdict_; }
  int64_t world_size() const { return world_size_; }
  // Whether all have come.
  bool complete() const { return static_cast<int64_t>(peers_.size()) == world_size_; }
  // Whether all that came, but rank 0, have left.
  bool all_others_left() const;
  // How many processes, of whichever world size, have been here and know what became of them.
  int64_t seen() const { return static_cast<int64_t>(peers_.size()) + refused_; }
  // One that has left already; nothing when all are there.
  std::optional<int64_t> a_rank_that_left() const;

  // "rank 2 (worker 2 at host, pid 123)".
  std::string Name(int64_t rank) const;
  std::string Names(const std::vector<int64_t>& ranks) const;
  // Who has not come: "rank 3 (worker 2) has not come; 3 of 4 are there: ranks 0, 1, 2".
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
  // Whether this process has stood still since the last tick, or so it seems. What piled up meanwhile may be seen in
  // any order, and before the next tick.
  bool NoticePause(SteadyTime now);
  std::string Difference(const Comer& comer) const;
  std::string MissingRanks(absl::string_view verb) const;

  const int64_t world_size_;
  const bool has_chief_;
  const std::string who_;  // of rank 0
  const Facts facts_;
  const std::chrono::duration<double> deadline_, start_deadline_;
  const SteadyTime start_;
  std::map<int64_t, Peer> peers_;  // by rank
  int64_t refused_ = 0;
  SteadyTime last_tick_;
  // How long this process stood still, and when that ended.
  std::chrono::duration<double> pause_{0};
  SteadyTime pause_end_;
  std::optional<Suspicion> suspicion_;
  absl::Status verdict_;
};

// "ranks 0, 1, 2", "rank 3"; of very many the first.
std::string RankList(const std::vector<int64_t>& ranks);
// For messages: on one line, and not too long.
std::string Shown(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ROSTER_H_
