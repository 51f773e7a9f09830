// Parses TF_CONFIG, the JSON by which TensorFlow's users and Kubernetes' training operators describe a cluster.
#ifndef TANDEM_CLUSTER_TF_CONFIG_H_
#define TANDEM_CLUSTER_TF_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cluster/cluster.h"

namespace tandem {

// Reads {"cluster": {JOB: [HOST:PORT, ...], ...}, "task": {"type": JOB, "index": NUMBER}}. Jobs are chief (or master,
// as in TensorFlow's first versions), worker, ps and evaluator. Other keys at the top level, such as rpc_layer, are
// ignored.
//
// TensorFlow has two readers of it, which differ; everything that one of them accepts is accepted:
//  - without a chief worker 0 is the chief;
//  - a task of type evaluator need not be listed in the cluster, and there is one at most;
//  - without a cluster the task is worker 0, or missing.
// A job with an empty list of addresses has no task. Kubeflow's sparseCluster is an error: its tasks do not know all
// others.
// Returns nothing if the text names neither cluster nor task. Adds all mistakes to `errors`, each with its JSON path.
std::optional<Cluster> ParseTfConfig(absl::string_view text, std::vector<std::string>* errors);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TF_CONFIG_H_
