// Reads from environment variables what launchers tell the processes that they start.
#ifndef TANDEM_CLUSTER_LAUNCHERS_H_
#define TANDEM_CLUSTER_LAUNCHERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cluster/cluster.h"
#include "cluster/environment.h"

namespace tandem {

struct Launcher {
  absl::string_view name;  // for example "torchrun"
  // True for a resource manager, which starts jobs. If another launcher runs in the job, only its variables count.
  bool is_resource_manager;
  // Returns nothing if the launcher has not started this process. Adds what is wrong to `errors`.
  std::optional<Cluster> (*read)(const Environment& environment, std::vector<std::string>* errors);
};

// Returns the launchers in the order in which they are asked: torchrun, Open MPI, PMI (MPICH, Intel MPI), JAX's
// variables, Slurm's srun, indexed Jobs of Kubernetes. All their tasks are workers; the first is the chief.
absl::Span<const Launcher> Launchers();

// Returns the first host of a list as Slurm writes it: "node01" for "node[01-04,7],x3". Empty if the list is malformed.
std::string FirstHost(absl::string_view node_list);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LAUNCHERS_H_
