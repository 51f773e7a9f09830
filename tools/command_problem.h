// What is wrong with the arguments of a tool that has commands.
#ifndef TANDEM_TOOLS_COMMAND_PROBLEM_H_
#define TANDEM_TOOLS_COMMAND_PROBLEM_H_

#include <string>
#include <vector>

namespace tandem {

// Of arguments that are no use of any of `commands`: that no command is given, that there is none of this name, with
// the nearest one, or that it takes other arguments.
std::string CommandProblem(const std::vector<std::string>& arguments, const std::vector<std::string>& commands);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMMAND_PROBLEM_H_
