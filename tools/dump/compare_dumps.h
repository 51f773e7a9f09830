// Describes the differences between two compiled programs.
#ifndef TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_
#define TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/dump/ir_graph.h"

namespace tandem {

// One of the two programs to compare.
struct DumpedProgram {
  nlohmann::ordered_json dump;   // the result of DumpJson
  std::vector<IrOp> ops;         // ops at the end of the phase to compare
  double expected_seconds = -1;  // time of a step by the machine model; negative if unknown
};

// Compares two programs. Top-level keys of the result: a, b (files), settings, phase, ops, variables, kernels,
// commands, collectives, buffers, memory. Each list has only_a, only_b, changed and the number of equal entries.
// Entries are matched by their names: ops and commands by name and kind, kernels (fusions) by the ops that they consist
// of, variables and buffers by name. Entries with the same name are compared in their order.
nlohmann::ordered_json CompareDumps(const std::string& phase, const DumpedProgram& a, const DumpedProgram& b);

// Returns the comparison as text that fits on a screen: the first lines of each list, with ops grouped by their scope.
std::string ComparisonText(const nlohmann::ordered_json& comparison);
// Returns the comparison as a web page with all lines.
std::string ComparisonHtml(const nlohmann::ordered_json& comparison);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_
