// Runs a tool by its name. One library holds all tools of an installed package, and each of its programs is a main
// function that calls RunTool.
#ifndef TANDEM_TOOLS_RUN_TOOL_H_
#define TANDEM_TOOLS_RUN_TOOL_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Runs the tool `name` ("tandem-dump") on the arguments of a main function, and returns the exit code of the process.
// If there is no such tool, says so on stderr and returns 2. As RunProgram does, a tool prepares the process's standard
// streams and signals, so call RunTool from the main function of a program that is nothing else.
int RunTool(absl::string_view name, int argc, char** argv);

// The names of all tools, sorted.
std::vector<std::string> ToolNames();

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_TOOL_H_
