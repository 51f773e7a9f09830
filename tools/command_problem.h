// Describes wrong arguments of a tool whose first argument is a command, as in "tandem-checkpoint list DIR".
#ifndef TANDEM_TOOLS_COMMAND_PROBLEM_H_
#define TANDEM_TOOLS_COMMAND_PROBLEM_H_

#include <string>
#include <vector>

namespace tandem {

// Says what is wrong with arguments that match none of `commands`: no command is given, there is no command with this
// name (with the most similar one), or the command takes other arguments.
std::string CommandProblem(const std::vector<std::string>& arguments, const std::vector<std::string>& commands);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMMAND_PROBLEM_H_
