// What differs between two compiled programs.
#ifndef TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_
#define TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/dump/ir_graph.h"

namespace tandem {

// One of two programs that are compared.
struct DumpedProgram {
  nlohmann::ordered_json dump;   // of DumpJson
  std::vector<IrOp> ops;         // of the phase that is compared
  double expected_seconds = -1;  // of a step, by the machine model; negative: not known
};

// Top-level keys: a, b (files), settings, phase, ops, variables, kernels, commands, collectives, buffers, memory. A
// list of things has only_a, only_b, changed and the number of equal ones. Things are the same by their names: ops and
// commands by name and kind, kernels (fusions) by the ops that they are made of, variables and buffers by name. Those
// of one name are compared in their order.
nlohmann::ordered_json CompareDumps(const std::string& phase, const DumpedProgram& a, const DumpedProgram& b);

// As text that fits a screen: of each list the first lines, ops by the scope that they stand in.
std::string ComparisonText(const nlohmann::ordered_json& comparison);
// As a page for a browser, with all lines.
std::string ComparisonHtml(const nlohmann::ordered_json& comparison);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_COMPARE_DUMPS_H_
