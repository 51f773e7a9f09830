#include "graph/replicas.h"

#include "absl/strings/str_cat.h"
#include "graph/module/graph_module.h"

namespace tandem {

void SetReplicas(GraphBuilder& graph, const ReplicaCount& replicas) { graph.module().replicas = replicas; }

ReplicaCount ReplicasOf(GraphBuilder& graph) {
  graph.module().depends_on_replicas = true;
  return graph.module().replicas;
}

absl::Status CheckReplicas(const GraphBuilder& graph, int64_t devices) {
  const int64_t all = graph.module().replicas.all;
  if (!graph.module().depends_on_replicas || all == devices) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the graph was built for ", all, " replicas and is compiled for ",
                                                 devices,
                                                 "; tell it their number, by SetReplicas, before it is built"));
}

}  // namespace tandem
