// Draws a program as a graph for Graphviz.
#ifndef TANDEM_TOOLS_DUMP_DOT_DUMP_H_
#define TANDEM_TOOLS_DUMP_DOT_DUMP_H_

#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Returns a graph with a node for each command and a Graphviz cluster for each section. The node of a kernel lists its
// ops. Edges are the buffers that one command writes and another reads, with their sizes. Inputs, outputs and the
// variables that a command reads are nodes too. Render it with
//   tandem-dump MODEL --format=dot | dot -Tsvg -o model.svg
std::string DumpDot(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_DOT_DUMP_H_
