// Member: this process's membership in a running cluster. It connects to the other processes, shares a store with them,
// and learns when one is lost.
#ifndef TANDEM_CLUSTER_MEMBER_H_
#define TANDEM_CLUSTER_MEMBER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/key_value_store.h"
#include "cluster/cluster.h"
#include "cluster/tls_files.h"

namespace tandem {

struct MemberOptions {
  // Seconds that a process may be silent before it is considered lost. Calls also have a timeout of their own.
  double deadline_seconds = 30;
  // Seconds that the first process waits for the last one to join.
  double start_deadline_seconds = 300;
  // Facts that must be the same on all processes, by name ("build", "target"). They are compared when processes join.
  std::map<std::string, std::string> facts;
  // If set, all messages between members are encrypted, and only processes with certificates of the CA can join.
  std::optional<TlsFiles> tls = std::nullopt;
};

// A process has at most one. Rank 0's process keeps the store and receives the heartbeats of all, at the address
// Cluster::coordinator.
class Member : public KeyValueStore {
 public:
  // Returns when all ranks are there. Errors, with exit code:
  //   InvalidArgument (2): another process has this rank, or another world size or fact: both values and their ranks.
  //   FailedPrecondition (2): no coordinator and several hosts; an address that cannot be bound or is in use.
  //   InvalidArgument (2): a file of options.tls (cluster/tls_material.h).
  //   FailedPrecondition (2): TLS keeps this process and rank 0 apart for the deadline: what differs, and the remedy.
  //   Unavailable (75): a rank did not come in time (which), the coordinator cannot be reached (its address).
  static absl::StatusOr<std::unique_ptr<Member>> Join(const Cluster& cluster, const MemberOptions& options);

  // Leaves the cluster. The others consider a process that ends without leaving as lost.
  ~Member() override = default;

  virtual const Cluster& cluster() const = 0;

  // Waits until all ranks have called Barrier with this name.
  virtual absl::Status Barrier(absl::string_view name, absl::Duration timeout) = 0;

  // All ranks must pass the same value under `name`, which can be used once. Otherwise returns InvalidArgument (2) on
  // all of them, with the ranks and both values (the message says that they differ in `name`).
  virtual absl::Status Agree(absl::string_view name, absl::string_view value, absl::Duration timeout) = 0;

  // OK until a process is lost or has failed: then Unavailable (75), "rank 2 (worker 2 at 10.0.0.3:2222) ...".
  virtual absl::Status status() const = 0;

  // Sets a function that is called once with that status, on a thread of the member; at once if the status is known
  // already. The function must not call the member. Null removes it; when SetOnFailure returns, no call is running.
  virtual void SetOnFailure(std::function<void(const absl::Status&)> on_failure) = 0;

  // Tells the other processes that this one gives up, and why. Their status() then contains the message of `why`, and
  // its exit code if the cause is in this process.
  virtual void Fail(const absl::Status& why) = 0;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_MEMBER_H_
