#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/cpu/commands/grouped_launch.h"
#include "runtime/cpu/commands/kernel_launch.h"
#include "runtime/cpu/commands/kinds.h"

namespace tandem {
namespace {

CpuCommandOr NewOfKind(const PlanContext& context, const fb::CommandT& table) {
  switch (table.body.type) {
    case fb::CommandBody::KernelLaunch:
      return std::make_unique<CpuKernelLaunch>(context, table);
    case fb::CommandBody::GroupedLaunch:
      return std::make_unique<CpuGroupedLaunch>(context, table);
    case fb::CommandBody::LibraryCall:
      return NewCpuLibraryCall(context, table);
    case fb::CommandBody::LaneReduce:
      return NewCpuLaneReduce(context, table);
    case fb::CommandBody::AllReduce:
      return NewCpuAllReduce(context, table);
    case fb::CommandBody::CheckFinite:
      return NewCpuCheckFinite(context, table);
    case fb::CommandBody::Copy:
      return NewCpuCopy(context, table);
    case fb::CommandBody::ScatterAdd:
      return NewCpuScatterAdd(context, table);
    default:
      return absl::UnimplementedError(absl::StrCat("CPUs do not run ", fb::EnumNameCommandBody(table.body.type)));
  }
}

}  // namespace

CpuCommandOr NewCpuCommand(const PlanContext& context, const fb::CommandT& table) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<CpuCommand> command, NewOfKind(context, table));
  command->work.MakeTasks(command->pieces_apart_);
  return command;
}

}  // namespace tandem
