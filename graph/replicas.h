// The number of replicas that run a graph, for functions whose results depend on it.
#ifndef TANDEM_GRAPH_REPLICAS_H_
#define TANDEM_GRAPH_REPLICAS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph_builder.h"

namespace tandem {

struct ReplicaCount {
  int64_t all = 1;        // replicas of all processes that compute a step together
  int64_t processes = 1;  // each process has equally many replicas, numbered consecutively
};

// Sets the number of replicas of `graph`, which is 1 by default. Call it before ops are added to the graph.
void SetReplicas(GraphBuilder& graph, const ReplicaCount& replicas);
// Returns the number of replicas. Once this was called, the graph is valid only for this number.
ReplicaCount ReplicasOf(GraphBuilder& graph);
// InvalidArgument if the graph is not valid for a program with this number of devices.
absl::Status CheckReplicas(const GraphBuilder& graph, int64_t devices);

}  // namespace tandem

#endif  // TANDEM_GRAPH_REPLICAS_H_
