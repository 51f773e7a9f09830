// The ops of a stored phase as a graph, for display.
#ifndef TANDEM_TOOLS_DUMP_IR_GRAPH_H_
#define TANDEM_TOOLS_DUMP_IR_GRAPH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

struct IrOp {
  std::string op;      // "td.conv2d"; "argument" for an argument of the step
  std::string name;    // scope and op, from its location
  std::string source;  // "file:line"
  std::string type;    // of the first result
  std::string kernel;  // for a launch: its symbol, without '@'
  // indices of the ops that make its operands; for an op with a region, also operands used inside
  std::vector<int> inputs;
  int parent = -1;  // the enclosing op: an exec.map_microbatches, or the launch whose kernel it is part of
};

// Returns the ops of @main or @step in the order of the text, each launch followed by the ops of its kernel. Empty if
// the text cannot be parsed.
std::vector<IrOp> ParseIrGraph(absl::string_view module);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_GRAPH_H_
