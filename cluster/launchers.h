// What launchers tell the processes that they start, by variables of the environment.
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
  absl::string_view name;  // "torchrun"
  // A resource manager starts jobs, and other launchers inside of them, whose variables then count alone.
  bool is_resource_manager;
  // Nothing where the launcher has not started this process. What is wrong goes to `errors`.
  std::optional<Cluster> (*read)(const Environment& environment, std::vector<std::string>* errors);
};

// In the order in which they are asked: torchrun, Open MPI, PMI (MPICH, Intel MPI), JAX's variables, Slurm's srun,
// indexed Jobs of Kubernetes. The tasks of all are workers; the first is the chief.
absl::Span<const Launcher> Launchers();

// The first host of a list as Slurm writes it: "node[01-04,7],x3" begins with "node01". Empty when it is malformed.
std::string FirstHost(absl::string_view node_list);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LAUNCHERS_H_
