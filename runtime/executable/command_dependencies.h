// Finds which commands of a program must be done before which. GPU streams must respect this order, and the loader
// checks it.
#ifndef TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_
#define TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_

#include <cstdint>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

// For each command, numbered as by CommandsInOrder, returns the numbers of earlier ones that must be done before it
// begins, ascending. The lists hold direct dependencies: followed from command to command, they order every pair of
// commands of which one writes memory that the other touches. Memory means the place where a buffer lies, so two values
// that share a place at different times depend on each other too. Besides, collectives follow each other, and every
// command behind a CheckFinite that writes a variable waits for the check.
//
// The program's buffer numbers must be in range. Takes time about linear in the number of operands.
std::vector<std::vector<uint32_t>> CommandDependencies(const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_COMMAND_DEPENDENCIES_H_
