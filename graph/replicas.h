// The replicas that run a graph, for functions whose results depend on how many there are.
#ifndef TANDEM_GRAPH_REPLICAS_H_
#define TANDEM_GRAPH_REPLICAS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph_builder.h"

namespace tandem {

struct ReplicaCount {
  int64_t all = 1;        // of all processes that make a step together
  int64_t processes = 1;  // which have as many each; those of a process have numbers in a row
};

// To be called before the graph is built. Without it there is one replica.
void SetReplicas(GraphBuilder& graph, const ReplicaCount& replicas);
// The graph is then good for this number of replicas alone.
ReplicaCount ReplicasOf(GraphBuilder& graph);
// InvalidArgument when the graph is not good for a program of so many devices.
absl::Status CheckReplicas(const GraphBuilder& graph, int64_t devices);

}  // namespace tandem

#endif  // TANDEM_GRAPH_REPLICAS_H_
