#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/cpu/commands/grouped_launch.h"
#include "runtime/cpu/commands/kernel_launch.h"
#include "runtime/cpu/commands/kinds.h"

namespace tandem {
namespace {

CpuCommandOr NewOfKind(const PlanContext& context, const fb::StepT& step) {
  switch (step.body.type) {
    case fb::StepBody::KernelLaunch:
      return std::make_unique<CpuKernelLaunch>(context, step);
    case fb::StepBody::GroupedLaunch:
      return std::make_unique<CpuGroupedLaunch>(context, step);
    case fb::StepBody::LibraryCall:
      return NewCpuLibraryCall(context, step);
    case fb::StepBody::LaneReduce:
      return NewCpuLaneReduce(context, step);
    case fb::StepBody::AllReduce:
      return NewCpuAllReduce(context, step);
    case fb::StepBody::CheckFinite:
      return NewCpuCheckFinite(context, step);
    case fb::StepBody::Copy:
      return NewCpuCopy(context, step);
    case fb::StepBody::ScatterAdd:
      return NewCpuScatterAdd(context, step);
    default:
      return absl::UnimplementedError(absl::StrCat("CPUs do not run ", fb::EnumNameStepBody(step.body.type)));
  }
}

}  // namespace

CpuCommandOr NewCpuCommand(const PlanContext& context, const fb::StepT& step) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<CpuCommand> command, NewOfKind(context, step));
  command->work.MakeTasks(command->pieces_apart_);
  return command;
}

}  // namespace tandem
