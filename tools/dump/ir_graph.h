// The ops of a module as a graph, read from its text: enough to show it, without MLIR.
#ifndef TANDEM_TOOLS_DUMP_IR_GRAPH_H_
#define TANDEM_TOOLS_DUMP_IR_GRAPH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

struct IrOp {
  std::string op;           // "td.conv2d"; "argument" for an argument of the step
  std::string name;         // scope and op, from its location
  std::string source;       // "file:line"
  std::string type;         // of the first result
  std::string kernel;       // of a launch: its symbol, without '@'
  std::vector<int> inputs;  // indices of the ops that make its operands; those around a region included
  int parent = -1;          // the op around it: a td.map_shards, or the launch whose kernel it is part of
};

// The ops of @main or @step in the order of the text, each launch followed by the ops of its kernel. Expects what the
// compiler stores: one op a line, locations behind it. Lines that are something else are left out, never errors.
std::vector<IrOp> ParseIrGraph(absl::string_view module);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_GRAPH_H_
