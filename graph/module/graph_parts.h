// Describes the parts of a graph in words, for messages about how two graphs differ. Free of MLIR types.
#ifndef TANDEM_GRAPH_MODULE_GRAPH_PARTS_H_
#define TANDEM_GRAPH_MODULE_GRAPH_PARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/graph_builder.h"

namespace tandem {

// Returns a name and a description for all variables, then for all ops in the order in which they were built:
//   "the variable dense/kernel"   "float32 [576,64], trainable, uniform in [-0.1, 0.1), at model.cc:48"
//   "the op dropout/Mul"          "mul of dense/Relu, dropout/Cast: float32 [b,64], at model.cc:48"
// Equal graphs have equal parts.
std::vector<std::pair<std::string, std::string>> GraphPartsOf(const GraphBuilder& graph);

}  // namespace tandem

#endif  // TANDEM_GRAPH_MODULE_GRAPH_PARTS_H_
