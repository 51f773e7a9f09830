// The tools, each as what its main function does. Its flags are known to that call alone.
#ifndef TANDEM_TOOLS_TOOL_FUNCTIONS_H_
#define TANDEM_TOOLS_TOOL_FUNCTIONS_H_

namespace tandem {

// Each runs a tool on the arguments of a main function, and returns the exit code of the process.
int TandemDump(int argc, char** argv);

}  // namespace tandem

#endif  // TANDEM_TOOLS_TOOL_FUNCTIONS_H_
