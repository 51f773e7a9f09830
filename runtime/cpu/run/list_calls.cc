#include "runtime/cpu/run/list_calls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "runtime/cpu/run/global_commands.h"

namespace tandem {
namespace {

absl::Status NotListable(const Executable& executable, const std::string& command) {
  return WithExitCode(absl::DataLossError(absl::StrCat(executable.name(), ": the program is flat, but command ",
                                                       command, " cannot be in a list of calls")),
                      kExitBadData);
}

bool AddMap(const StepState& state, const PlannedSection& section, CallList& list) {
  if (!section.run_inline) return false;
  MicrobatchContext context;
  context.constants = state.constants;
  context.microbatch = state.threads[0].microbatch.data();
  for (int device = 0; device < static_cast<int>(state.devices.size()); ++device) {
    context.device = &state.devices[device];
    for (int lane = 0; lane < state.lanes_per_replica; ++lane) {
      context.row = lane * state.rows_per_lane;
      context.lane = state.LaneSlot(device, lane);
      for (const std::unique_ptr<CpuCommand>& command : section.commands) {
        if (!command->AddRowCalls(list, context, device, list.first_row(device) + context.row)) return false;
      }
    }
  }
  return true;
}

bool AddGlobal(const StepState& state, const CpuCommand& command, CallList& list) {
  if (command.is_for_all_devices() && state.devices.size() == 1) return true;
  if (!command.table().run_inline || !command.is_listable()) return false;
  MicrobatchContext context;
  context.constants = state.constants;
  for (int device = 0; device < DevicesThatRun(state, command); ++device) {
    context.device = &state.devices[device];
    for (const Piece& piece : command.work.pieces) command.AddCalls(list, context, device, piece);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CallList>> ListCalls(const Executable& executable, const StepState& state,
                                                    const StepPlan& plan) {
  auto list = std::make_unique<CallList>(state);
  for (const PlannedSection& section : plan.sections) {
    if (section.kind == format::SectionKind::kMap) {
      // A lane of several microbatches would have to add up their results, which a list of calls does not do.
      if (state.rows_per_lane > state.microbatch_rows || !AddMap(state, section, *list)) {
        return NotListable(executable, section.commands.empty() ? "" : section.commands[0]->table().name);
      }
      continue;
    }
    for (const std::unique_ptr<CpuCommand>& command : section.commands) {
      if (!section.block_updates.empty() || !AddGlobal(state, *command, *list)) {
        return NotListable(executable, command->table().name);
      }
    }
  }
  return list;
}

}  // namespace tandem
