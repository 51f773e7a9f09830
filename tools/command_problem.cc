#include "tools/command_problem.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"

namespace tandem {

std::string CommandProblem(const std::vector<std::string>& arguments, const std::vector<std::string>& commands) {
  if (arguments.empty()) return absl::StrCat("a command is needed: ", absl::StrJoin(commands, ", "));
  const std::string& command = arguments[0];
  if (std::find(commands.begin(), commands.end(), command) != commands.end()) {
    return absl::StrCat("\"", command, "\" takes other arguments than these ", arguments.size() - 1);
  }
  const std::string nearest = NearestName(command, commands);
  return absl::StrCat("there is no command \"", command, "\"; ",
                      nearest.empty() ? "there are " : absl::StrCat("did you mean \"", nearest, "\"? There are "),
                      absl::StrJoin(commands, ", "));
}

}  // namespace tandem
