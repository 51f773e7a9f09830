// Factories of the kinds of commands, each of which is in a file of its own. The body of `table` must be of the
// factory's kind. Only new_command.cc calls them.
#ifndef TANDEM_RUNTIME_COMMANDS_KINDS_H_
#define TANDEM_RUNTIME_COMMANDS_KINDS_H_

#include <memory>

#include "runtime/commands/command.h"

namespace tandem {

std::unique_ptr<Command> NewAllReduce(const format::Command& table);
std::unique_ptr<Command> NewCheckFinite(const format::Command& table);
std::unique_ptr<Command> NewCopy(const format::Command& table);
std::unique_ptr<Command> NewGroupedLaunch(const format::Command& table);
std::unique_ptr<Command> NewKernelLaunch(const format::Command& table);
std::unique_ptr<Command> NewLaneReduce(const format::Command& table);
std::unique_ptr<Command> NewLibraryCall(const format::Command& table);
std::unique_ptr<Command> NewScatterAdd(const format::Command& table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_KINDS_H_
