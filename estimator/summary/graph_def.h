// Encodes graphs for TensorBoard's graph tab: messages of tensorflow/core/framework/graph.proto.
#ifndef TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_
#define TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "graph/module/graph_nodes.h"
#include "runtime/executable/executable.h"

namespace tandem {

struct GraphDefNode {
  std::string name;  // unique; the part before a "/" is a group that can be folded
  std::string op;
  std::vector<std::string> inputs;  // names of the nodes that compute its inputs; "name:k" for result k > 0
  std::string device;               // for example "cpu:0"; may be empty
  std::vector<GraphNode::Result> outputs;
  std::map<std::string, std::string> attributes;  // names and texts that are shown with the node
};

std::string GraphDef(const std::vector<GraphDefNode>& nodes);

// Returns the graph that a model_fn built, grouped by name scopes, without the ops that mark summaries.
std::vector<GraphDefNode> NodesOfModel(const std::vector<GraphNode>& graph);

// Returns the commands that each device runs, and the variables, inputs and scalars that they read. Commands are
// grouped by device (if there are several) and by section of the program; a collective is one node for all devices.
// Kernels have the attribute _XlaCluster, by which TensorBoard can colour them.
std::vector<GraphDefNode> NodesOfProgram(const Executable& executable);

// Makes names unique, and replaces characters that TensorBoard does not allow in names.
class NodeNames {
 public:
  std::string Take(absl::string_view wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_
