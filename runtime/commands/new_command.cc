#include "runtime/commands/kinds.h"

namespace tandem {

std::unique_ptr<Command> NewCommand(const fb::CommandT& table) {
  if (table.body.value == nullptr) return nullptr;
  switch (table.body.type) {
    case fb::CommandBody::KernelLaunch:
      return NewKernelLaunch(table);
    case fb::CommandBody::GroupedLaunch:
      return NewGroupedLaunch(table);
    case fb::CommandBody::LibraryCall:
      return NewLibraryCall(table);
    case fb::CommandBody::LaneReduce:
      return NewLaneReduce(table);
    case fb::CommandBody::AllReduce:
      return NewAllReduce(table);
    case fb::CommandBody::CheckFinite:
      return NewCheckFinite(table);
    case fb::CommandBody::Copy:
      return NewCopy(table);
    case fb::CommandBody::ScatterAdd:
      return NewScatterAdd(table);
    default:
      return nullptr;
  }
}

std::vector<std::unique_ptr<Command>> CommandsInOrder(const fb::ProgramT& program) {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto& section : program.sections) {
    for (const auto& table : section->commands) commands.push_back(NewCommand(*table));
  }
  return commands;
}

}  // namespace tandem
