// The main function of a tool's program. The BUILD file defines TANDEM_TOOL as the tool's function.
#include "tools/tool_functions.h"

int main(int argc, char** argv) { return tandem::TANDEM_TOOL(argc, argv); }
