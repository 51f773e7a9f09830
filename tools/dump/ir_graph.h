// Converts the stored IR of a phase to a graph of ops, for display.
#ifndef TANDEM_TOOLS_DUMP_IR_GRAPH_H_
#define TANDEM_TOOLS_DUMP_IR_GRAPH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

struct IrOp {
  std::string op;      // such as "td.conv2d"; "argument" for an argument of the step
  std::string name;    // scope and name, from the op's location
  std::string source;  // "file:line" of the user's code
  std::string type;    // type of the first result
  std::string kernel;  // for a kernel launch, the kernel's symbol without '@'
  // Indices of the ops that make the operands. For an op with a region, values that are used inside the region count
  // too.
  std::vector<int> inputs;
  int parent = -1;  // index of the enclosing op: an exec.map_microbatches, or the launch of the kernel
};

// Returns the ops of @main or @step in the order of the text, each launch followed by the ops of its kernel. Empty if
// the text cannot be parsed.
std::vector<IrOp> ParseIrGraph(absl::string_view module);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_GRAPH_H_
