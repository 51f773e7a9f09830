// Who takes part in a training, told from the environment of a process.
#ifndef TANDEM_CLUSTER_RESOLVER_H_
#define TANDEM_CLUSTER_RESOLVER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cluster/cluster.h"
#include "cluster/environment.h"

namespace tandem {

// The cluster that TF_CONFIG describes, else the launcher that started the process (launchers.h). Nothing when this
// process trains by itself: nobody describes a cluster, or one of a single process.
//
// InvalidArgument (exit code 2), with all that is wrong, one a line: each with variable, JSON path, value and what is
// expected. Also when two of them disagree on the rank or on the number of processes.
absl::StatusOr<std::optional<Cluster>> ResolveCluster(const Environment& environment);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_RESOLVER_H_
