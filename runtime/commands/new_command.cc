#include "runtime/commands/kinds.h"

namespace tandem {

namespace {

struct New {
  using Made = std::unique_ptr<Command>;
  const format::Command& table;
  Made operator()(const format::KernelLaunch&) const { return NewKernelLaunch(table); }
  Made operator()(const format::GroupedLaunch&) const { return NewGroupedLaunch(table); }
  Made operator()(const format::LibraryCall&) const { return NewLibraryCall(table); }
  Made operator()(const format::LaneReduce&) const { return NewLaneReduce(table); }
  Made operator()(const format::AllReduce&) const { return NewAllReduce(table); }
  Made operator()(const format::CheckFinite&) const { return NewCheckFinite(table); }
  Made operator()(const format::Copy&) const { return NewCopy(table); }
  Made operator()(const format::ScatterAdd&) const { return NewScatterAdd(table); }
};

}  // namespace

std::unique_ptr<Command> NewCommand(const format::Command& table) { return table.body.Visited(New{table}); }

std::vector<std::unique_ptr<Command>> CommandsInOrder(const format::Program& program) {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto& section : program.sections) {
    for (const auto& table : section.commands) commands.push_back(NewCommand(table));
  }
  return commands;
}

}  // namespace tandem
