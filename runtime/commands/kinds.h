// The kinds of commands, each in a file of its own; the body of `table` is of the kind. Only for new_command.cc.
#ifndef TANDEM_RUNTIME_COMMANDS_KINDS_H_
#define TANDEM_RUNTIME_COMMANDS_KINDS_H_

#include <memory>

#include "runtime/commands/command.h"

namespace tandem {

std::unique_ptr<Command> NewAllReduce(const fb::CommandT& table);
std::unique_ptr<Command> NewCheckFinite(const fb::CommandT& table);
std::unique_ptr<Command> NewCopy(const fb::CommandT& table);
std::unique_ptr<Command> NewGroupedLaunch(const fb::CommandT& table);
std::unique_ptr<Command> NewKernelLaunch(const fb::CommandT& table);
std::unique_ptr<Command> NewLaneReduce(const fb::CommandT& table);
std::unique_ptr<Command> NewLibraryCall(const fb::CommandT& table);
std::unique_ptr<Command> NewScatterAdd(const fb::CommandT& table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_KINDS_H_
