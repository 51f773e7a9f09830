// Graphs for TensorBoard's tab: messages of tensorflow/core/framework/graph.proto, encoded.
#ifndef TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_
#define TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "graph/graph_nodes.h"
#include "runtime/executable.h"

namespace tandem {

struct GraphDefNode {
  std::string name;  // unique; what is before a "/" is a group that can be folded
  std::string op;
  std::vector<std::string> inputs;  // names of nodes, "name:k" for result k > 0
  std::string device;               // "cpu:0", or empty
  std::vector<GraphNode::Result> outputs;
  std::map<std::string, std::string> attributes;  // shown with the node
};

std::string GraphDef(const std::vector<GraphDefNode>& nodes);

// The graph that a model_fn built, by its name scopes; without what marks summaries.
std::vector<GraphDefNode> NodesOfModel(const std::vector<GraphNode>& graph);

// The commands that each device runs, grouped by device (where there are several) and section of the program, what a
// collective combines as one node of all devices, and the variables, inputs and scalars that they read. Kernels have
// the attribute _XlaCluster, by which TensorBoard colours.
std::vector<GraphDefNode> NodesOfProgram(const Executable& executable);

// Makes names unique, of characters that TensorBoard's names may have.
class NodeNames {
 public:
  std::string Take(absl::string_view wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_GRAPH_DEF_H_
