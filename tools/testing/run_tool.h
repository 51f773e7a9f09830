// Runs tools as users do.
#ifndef TANDEM_TOOLS_TESTING_RUN_TOOL_H_
#define TANDEM_TOOLS_TESTING_RUN_TOOL_H_

#include <string>

namespace tandem {

struct ToolResult {
  int exit_code = -1;  // 128 + the signal that killed it, if one did
  std::string out, err;
};

// Runs a line in the shell.
ToolResult RunShell(const std::string& line);

// Runs `tools/TOOL ARGUMENTS` through the shell.
ToolResult RunTool(const std::string& tool, const std::string& arguments);

}  // namespace tandem

#endif  // TANDEM_TOOLS_TESTING_RUN_TOOL_H_
