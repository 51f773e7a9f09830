// Tools for tandem_run_tool (estimator/c/tandem_c.h) in libtandem.so.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "estimator/c/tool_runner.h"
#include "tools/run_tool.h"

namespace tandem {
namespace {

absl::StatusOr<int> Run(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {absl::StrCat("tandem-", name)};
  const std::vector<std::string> names = ToolNames();
  if (std::find(names.begin(), names.end(), words[0]) == names.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no tool \"", PrintableLine(name), "\"; there are ", absl::StrJoin(names, ", ")));
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return RunTool(words[0], static_cast<int>(words.size()), argv.data());
}

[[maybe_unused]] const bool has_tools = [] {
  c::SetToolRunner(Run);
  return true;
}();

}  // namespace
}  // namespace tandem
