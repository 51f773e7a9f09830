// ResolveCluster: reads from a process's environment who takes part in a training.
#ifndef TANDEM_CLUSTER_RESOLVER_H_
#define TANDEM_CLUSTER_RESOLVER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cluster/cluster.h"
#include "cluster/environment.h"

namespace tandem {

// Returns the cluster that TF_CONFIG describes or, without it, the launcher that started the process (launchers.h).
// Returns nothing if this process trains by itself: no cluster is described, or one with a single process.
//
// InvalidArgument (exit code 2) lists all that is wrong, one per line, with variable, JSON path, value and what is
// expected; also if two descriptions disagree on the rank or on the number of processes.
absl::StatusOr<std::optional<Cluster>> ResolveCluster(const Environment& environment);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_RESOLVER_H_
