// SharedStore: the values, barriers and agreements of a cluster, and the requests that wait for them. Kept by rank 0.
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

// Not thread-safe. Every request is answered: at once, when it is complete, or at its deadline. The callback that
// receives the answer must not call the store.
class SharedStore {
 public:
  using Answer = std::function<void(const absl::StatusOr<std::string>& value)>;

  // `roster` provides the names of ranks, for messages. It must outlive the store.
  explicit SharedStore(const Roster* roster) : roster_(roster) {}

  void Set(const std::string& key, std::string value, const Answer& answer);
  // Waits until the key is set. `ticket`, here and below, identifies this request for Cancel.
  void Get(const std::string& key, const void* ticket, SteadyTime deadline, Answer answer);
  // Answers when all ranks have called Barrier with this name.
  void Barrier(const std::string& name, int64_t rank, const void* ticket, SteadyTime deadline, Answer answer);
  // Answers when all ranks have called Agree with this name, after comparing their values.
  void Agree(const std::string& name, int64_t rank, std::string value, const void* ticket, SteadyTime deadline,
             Answer answer);

  // Removes a waiting request without answering it. Returns false if there is none.
  bool Cancel(const void* ticket);
  // Answers the requests whose deadline has come.
  void Expire(SteadyTime now);
  // Answers, with an error, all requests that wait for a rank that has left.
  void Left();
  // Answers all waiting requests with `status`.
  void Fail(const absl::Status& status);
  // The next deadline; the largest time if nobody waits.
  SteadyTime NextDeadline() const;

 private:
  struct Waiter {
    const void* ticket;
    SteadyTime deadline;
    Answer answer;
    int64_t rank = -1;
    std::string value;
  };
  // A barrier or an agreement. Meetings are stored by kind and name.
  struct Meeting {
    std::string what;  // for messages: "barrier \"start\""
    std::vector<Waiter> waiters;
  };
  using MeetingKey = std::pair<bool, std::string>;

  void Meet(MeetingKey key, Waiter waiter);
  absl::Status Missing(const Meeting& meeting) const;
  absl::Status Compare(const std::string& name, const Meeting& meeting) const;

  const Roster* const roster_;
  std::map<std::string, std::string> values_;
  std::multimap<std::string, Waiter> gets_;  // waiting Get requests, by key
  std::map<MeetingKey, Meeting> meetings_;
  std::set<std::string> agreed_;  // names of agreements that were made
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_SHARED_STORE_H_
