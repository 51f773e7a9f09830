// Finds which commands of a program must have ended before which others begin. GPU streams must respect this order, and
// the loader checks it.
#ifndef TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_
#define TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_

#include <cstdint>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

// For each command, numbered as by CommandsInOrder, returns the numbers of earlier commands that must have ended before
// it begins, ascending. The lists hold direct dependencies: followed from command to command, they order every pair of
// commands of which one writes memory that the other accesses. Memory means the place of a buffer, so two values that
// have the same place at different times depend on each other too. In addition, collectives follow each other, and
// every command behind a CheckFinite that writes a variable waits for the check.
//
// The program's buffer numbers must be in range. Takes time about linear in the number of operands.
std::vector<std::vector<uint32_t>> CommandDependencies(const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_
