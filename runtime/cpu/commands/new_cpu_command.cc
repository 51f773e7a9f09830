#include "base/status_macros.h"
#include "runtime/cpu/commands/grouped_launch.h"
#include "runtime/cpu/commands/kernel_launch.h"
#include "runtime/cpu/commands/kinds.h"

namespace tandem {
namespace {

struct NewCpu {
  const PlanContext& context;
  const format::Command& table;
  CpuCommandOr operator()(const format::KernelLaunch&) const {
    return std::make_unique<CpuKernelLaunch>(context, table);
  }
  CpuCommandOr operator()(const format::GroupedLaunch&) const {
    return std::make_unique<CpuGroupedLaunch>(context, table);
  }
  CpuCommandOr operator()(const format::LibraryCall&) const { return NewCpuLibraryCall(context, table); }
  CpuCommandOr operator()(const format::LaneReduce&) const { return NewCpuLaneReduce(context, table); }
  CpuCommandOr operator()(const format::AllReduce&) const { return NewCpuAllReduce(context, table); }
  CpuCommandOr operator()(const format::CheckFinite&) const { return NewCpuCheckFinite(context, table); }
  CpuCommandOr operator()(const format::Copy&) const { return NewCpuCopy(context, table); }
  CpuCommandOr operator()(const format::ScatterAdd&) const { return NewCpuScatterAdd(context, table); }
};

}  // namespace

CpuCommandOr NewCpuCommand(const PlanContext& context, const format::Command& table) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<CpuCommand> command, table.body.Visited(NewCpu{context, table}));
  command->work.MakeTasks(command->pieces_apart_);
  return command;
}

}  // namespace tandem
