// SharedStore: the values, barriers and agreements of a cluster, and who waits for them. Rank 0 keeps it.
#ifndef TANDEM_CLUSTER_SHARED_STORE_H_
#define TANDEM_CLUSTER_SHARED_STORE_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cluster/roster.h"

namespace tandem {

// Not thread-safe. Every request has an answer: at once, when it is complete, or at its deadline. An answer must not
// call the store.
class SharedStore {
 public:
  using Answer = std::function<void(const absl::StatusOr<std::string>& value)>;

  // `roster` gives names to ranks and outlives the store.
  explicit SharedStore(const Roster* roster) : roster_(roster) {}

  void Set(const std::string& key, std::string value, const Answer& answer);
  // Waits until the key is set. `ticket`, here and below, is for Cancel: of this request alone.
  void Get(const std::string& key, const void* ticket, SteadyTime deadline, Answer answer);
  // Waits until all ranks have come.
  void Barrier(const std::string& name, int64_t rank, const void* ticket, SteadyTime deadline, Answer answer);
  // Waits until all ranks have said a value, and compares them.
  void Agree(const std::string& name, int64_t rank, std::string value, const void* ticket, SteadyTime deadline,
             Answer answer);

  // Forgets a request that waits, without an answer. False when there is none.
  bool Cancel(const void* ticket);
  // Answers those whose deadline has come.
  void Expire(SteadyTime now);
  // Answers all that wait for a rank that has left.
  void Left();
  // Answers all that wait.
  void Fail(const absl::Status& status);
  // The next deadline; the end of time when nobody waits.
  SteadyTime NextDeadline() const;

 private:
  struct Waiter {
    const void* ticket;
    SteadyTime deadline;
    Answer answer;
    int64_t rank = -1;
    std::string value;
  };
  // A barrier or an agreement, by kind and name.
  struct Meeting {
    std::string what;  // "barrier \"start\""
    std::vector<Waiter> waiters;
  };
  using MeetingKey = std::pair<bool, std::string>;

  void Meet(MeetingKey key, Waiter waiter);
  absl::Status Missing(const Meeting& meeting) const;
  absl::Status Compare(const std::string& name, const Meeting& meeting) const;

  const Roster* const roster_;
  std::map<std::string, std::string> values_;
  std::multimap<std::string, Waiter> gets_;  // by key
  std::map<MeetingKey, Meeting> meetings_;
  std::set<std::string> agreed_;  // names of agreements that are used up
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_SHARED_STORE_H_
