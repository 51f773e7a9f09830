// Process groups over TCP, with Gloo.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

class KeyValueStore;

struct GlooOptions {
  int rank = 0;
  int size = 1;
  KeyValueStore* store = nullptr;  // used while connecting only
  std::string prefix;              // of all keys; another one for each start, as connections are not found again
  // Where this rank listens, reachable by the others: a host name or address, or, where that is empty, the name of a
  // network interface.
  std::string address;
  std::string interface;
  absl::Duration deadline = absl::Seconds(60);  // of connecting, and of each collective
  // All-reduces go round Gloo's ring. It moves a little less per process when there are many, but adds in another
  // order: the bits are equal on all ranks, not those of the tree.
  bool ring = false;
};

// Fork before, not after: this starts threads. InvalidArgument: nobody can listen there. Unavailable, or the store's
// error: not all ranks came within the deadline.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectGloo(const GlooOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
