// The commands of an executable as reports show them: their names, what they compute and how many bytes they read and
// write.
#ifndef TANDEM_RUNTIME_EXECUTABLE_COMMAND_INFO_H_
#define TANDEM_RUNTIME_EXECUTABLE_COMMAND_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/commands/execution_work.h"
#include "runtime/executable/executable.h"

namespace tandem {

struct CommandInfo {
  int id = 0;                              // index in the result of ListCommands
  const format::Command* table = nullptr;  // the executable's command; null for "LaneSum"
  std::string section;                     // the section's name in the executable
  bool map = false;                        // true if it runs for every microbatch, false if once per device
  std::string kind;                        // the command's kind in runtime/format/index.td, or "LaneSum"
  std::string name;                        // scope and op, as the user sees it
  std::string detail;                      // the kernel with its ops, or the library's primitive and implementation
  std::string source;                      // "file:line"
  bool library = false;                    // true for a library call, false for other kinds of commands
  bool bfloat16 = false;                   // true for a library call on bfloat16 operands
  bool tf32 = false;                       // true for a library call that rounds float32 operands to TensorFloat-32
  ExecutionWork work;
};

// Returns all commands of the first replica's program, section by section. The commands of each section are followed by
// an additional one, "LaneSum", which adds a microbatch's results to those of its lane. One execution of it follows
// each microbatch; in global sections it never runs.
std::vector<CommandInfo> ListCommands(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_COMMAND_INFO_H_
