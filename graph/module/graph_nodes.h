// The ops of a graph as plain data, for drawing it. Free of MLIR types.
#ifndef TANDEM_GRAPH_MODULE_GRAPH_NODES_H_
#define TANDEM_GRAPH_MODULE_GRAPH_NODES_H_

#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/graph_builder.h"

namespace tandem {

struct GraphNode {
  struct Operand {
    int node = 0;    // index of the node that computes the value
    int result = 0;  // which of the results of `node`
  };
  struct Result {
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // Scope and op, "dense/MatMul"; for an op that reads a variable, the variable's name. Not always unique.
  std::string name;
  std::string op;      // the kind of op: "matmul"
  std::string source;  // "file:line" of the user's code; may be empty
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::string variable;  // the variable that the op reads or assigns; empty for other ops
};

// Returns the nodes in the order in which they were built; operands come before their users.
std::vector<GraphNode> GraphNodesOf(const GraphBuilder& graph);

}  // namespace tandem

#endif  // TANDEM_GRAPH_MODULE_GRAPH_NODES_H_
