// The kinds of commands, each in a file of its own; the body of `step` is of the kind. Only for new_command.cc.
#ifndef TANDEM_RUNTIME_COMMANDS_KINDS_H_
#define TANDEM_RUNTIME_COMMANDS_KINDS_H_

#include <memory>

#include "runtime/commands/command.h"

namespace tandem {

std::unique_ptr<Command> NewAllReduce(const fb::StepT& step);
std::unique_ptr<Command> NewCheckFinite(const fb::StepT& step);
std::unique_ptr<Command> NewCopy(const fb::StepT& step);
std::unique_ptr<Command> NewGroupedLaunch(const fb::StepT& step);
std::unique_ptr<Command> NewKernelLaunch(const fb::StepT& step);
std::unique_ptr<Command> NewLaneReduce(const fb::StepT& step);
std::unique_ptr<Command> NewLibraryCall(const fb::StepT& step);
std::unique_ptr<Command> NewScatterAdd(const fb::StepT& step);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_KINDS_H_
