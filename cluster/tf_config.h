// TF_CONFIG: the JSON by which TensorFlow's users, and Kubernetes' training operators, describe a cluster.
#ifndef TANDEM_CLUSTER_TF_CONFIG_H_
#define TANDEM_CLUSTER_TF_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cluster/cluster.h"

namespace tandem {

// Reads {"cluster": {JOB: [HOST:PORT, ...], ...}, "task": {"type": JOB, "index": NUMBER}}. Jobs are chief (or, as
// TensorFlow's first versions had it, master), worker, ps and evaluator. Other keys of the whole, such as rpc_layer,
// are passed over.
//
// TensorFlow has two readers of it, which differ; whatever one of them takes is taken:
//  - without a chief worker 0 is the chief;
//  - a task of type evaluator need not be listed in the cluster, and there is one at most;
//  - without a cluster the task is worker 0, or missing.
// A job with an empty list of addresses has no task. Kubeflow's sparseCluster is an error: its tasks do not know all
// others.
// Nothing when it names neither cluster nor task. All that is wrong goes to `errors`, each with the JSON path.
std::optional<Cluster> ParseTfConfig(absl::string_view text, std::vector<std::string>* errors);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TF_CONFIG_H_
