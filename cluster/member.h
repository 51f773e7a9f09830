// Member: this process in a running cluster. It meets the others, has a store with them, and learns when one is lost.
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
  // How long a process may be silent before it is taken for lost. Every call has a deadline of its own besides.
  double deadline_seconds = 30;
  // How long the first waits for the last to come.
  double start_deadline_seconds = 300;
  // What must be the same on all processes, by name ("build", "target"): compared when they meet.
  std::map<std::string, std::string> facts;
  // With them all that members say to each other is encrypted, and only those meet who have certificates of the CA.
  std::optional<TlsFiles> tls = std::nullopt;
};

// One at a time in a process. Rank 0 keeps the store and hears the heartbeats of all, at Cluster::coordinator.
class Member : public KeyValueStore {
 public:
  // Returns when all ranks are there. Errors, with exit code:
  //   InvalidArgument (2): another process has this rank, or another world size or fact: both values and their ranks.
  //   FailedPrecondition (2): no coordinator and several hosts; an address that cannot be bound or is in use.
  //   InvalidArgument (2): a file of options.tls (cluster/tls_material.h).
  //   FailedPrecondition (2): TLS keeps this process and rank 0 apart for the deadline: what differs, and the remedy.
  //   Unavailable (75): a rank did not come in time (which), the coordinator cannot be reached (its address).
  static absl::StatusOr<std::unique_ptr<Member>> Join(const Cluster& cluster, const MemberOptions& options);

  // Leaves. The others take a process that is gone without having left for lost.
  ~Member() override = default;

  virtual const Cluster& cluster() const = 0;

  // Waits for all ranks.
  virtual absl::Status Barrier(absl::string_view name, absl::Duration timeout) = 0;

  // All ranks must give the same value under a name, which is used once. InvalidArgument (2) on all of them otherwise,
  // with the ranks and both values (`name` is said to be different).
  virtual absl::Status Agree(absl::string_view name, absl::string_view value, absl::Duration timeout) = 0;

  // OK until a process is lost, or has failed: then Unavailable (75), "rank 2 (worker 2 at 10.0.0.3:2222) ...".
  virtual absl::Status status() const = 0;

  // Called once with that status, from a thread of the member's; at once when it is known already. The function must
  // not call the member. Null ends it; when SetOnFailure returns no call is going on.
  virtual void SetOnFailure(std::function<void(const absl::Status&)> on_failure) = 0;

  // Tells the others that this process gives up, and why: they get it as their status, with its exit code where the
  // reason is this process's own.
  virtual void Fail(const absl::Status& why) = 0;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_MEMBER_H_
