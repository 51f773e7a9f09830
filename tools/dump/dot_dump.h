// Draws a program as a graph for Graphviz.
#ifndef TANDEM_TOOLS_DUMP_DOT_DUMP_H_
#define TANDEM_TOOLS_DUMP_DOT_DUMP_H_

#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Returns a graph with a node per command, in a cluster per section; a kernel lists its ops. Edges are the buffers that
// go from one command to another, with their sizes; inputs, variables that a command reads and outputs are nodes at the
// ends. Render it with
//   tandem-dump MODEL --format=dot | dot -Tsvg -o model.svg
std::string DumpDot(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_DOT_DUMP_H_
