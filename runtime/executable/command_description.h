// The text by which messages name a command of a program.
#ifndef TANDEM_RUNTIME_EXECUTABLE_COMMAND_DESCRIPTION_H_
#define TANDEM_RUNTIME_EXECUTABLE_COMMAND_DESCRIPTION_H_

#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Returns a text such as "dense/MatMul [model.cc:7 (MatMul)] fused with Log [model.cc:8 (Log)], replica 1 (cpu:1)".
std::string DescribeCommand(const Executable& executable, const format::Command& command, int replica);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_COMMAND_DESCRIPTION_H_
