#include "runtime/commands/kinds.h"

namespace tandem {

std::unique_ptr<Command> NewCommand(const fb::StepT& step) {
  if (step.body.value == nullptr) return nullptr;
  switch (step.body.type) {
    case fb::StepBody::KernelLaunch:
      return NewKernelLaunch(step);
    case fb::StepBody::GroupedLaunch:
      return NewGroupedLaunch(step);
    case fb::StepBody::LibraryCall:
      return NewLibraryCall(step);
    case fb::StepBody::LaneReduce:
      return NewLaneReduce(step);
    case fb::StepBody::AllReduce:
      return NewAllReduce(step);
    case fb::StepBody::CheckFinite:
      return NewCheckFinite(step);
    case fb::StepBody::Copy:
      return NewCopy(step);
    case fb::StepBody::ScatterAdd:
      return NewScatterAdd(step);
    default:
      return nullptr;
  }
}

std::vector<std::unique_ptr<Command>> CommandsInOrder(const fb::ProgramT& program) {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto& section : program.sections) {
    for (const auto& step : section->steps) commands.push_back(NewCommand(*step));
  }
  return commands;
}

}  // namespace tandem
