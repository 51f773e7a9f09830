#include "runtime/cpu/run/find_non_finite.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/commands/command.h"
#include "runtime/cpu/kernels/all_finite.h"
#include "runtime/cpu/run/global_commands.h"
#include "runtime/cpu/run/map_commands.h"
#include "runtime/executable/command_description.h"

namespace tandem {
namespace {

// Returns the checks for finite numbers, and all commands from which their values are computed. Other commands may
// compute NaNs or infinities without ending a step. Returns all commands if the program has no check.
std::set<const format::Command*> CheckedCommands(const format::Program& program) {
  const std::vector<std::unique_ptr<Command>> commands = CommandsInOrder(program);
  const bool checks = std::any_of(commands.begin(), commands.end(), [](const auto& c) { return c->may_end_step(); });
  std::set<const format::Command*> checked;
  std::set<uint32_t> buffers;
  for (auto it = commands.rbegin(); it != commands.rend(); ++it) {
    const Command& command = **it;
    const std::vector<uint32_t> writes = command.Writes(), reads = command.Reads();
    const bool makes = std::any_of(writes.begin(), writes.end(), [&](uint32_t b) { return buffers.contains(b); });
    if (checks && !makes && !command.may_end_step()) continue;
    checked.insert(&command.table());
    buffers.insert(reads.begin(), reads.end());
  }
  return checked;
}

class NonFiniteFinder {
 public:
  NonFiniteFinder(const Executable& executable, const format::Program& program, const StepState& state,
                  const StepPlan& plan)
      : executable_(executable), state_(state), plan_(plan), checked_(CheckedCommands(program)) {}

  absl::StatusOr<std::string> MapSection(const PlannedSection& section, int thread) {
    std::string found;
    for (int device = 0; device < static_cast<int>(state_.devices.size()); ++device) {
      for (int lane = 0; lane < state_.lanes_per_replica; ++lane) {
        TD_RETURN_IF_ERROR(RunLane(state_, plan_, section, {device, lane}, thread,
                                   [&](const CpuCommand& command, const MicrobatchContext& context, int64_t rows) {
                                     if (OutputsFinite(command, context, rows)) return true;
                                     found = absl::StrCat(
                                         Describe(command, device), ", lane ",
                                         (state_.first_replica + device) * state_.lanes_per_replica + lane);
                                     return false;
                                   }));
        if (!found.empty()) return found;
      }
    }
    return found;
  }

  // Returns a text with the command and the first replica whose outputs are not finite; "" if they are finite on all
  // replicas that had rows.
  std::string GlobalOutputs(const CpuCommand& command) {
    for (int device = 0; device < static_cast<int>(state_.devices.size()); ++device) {
      if (state_.devices[device].rows == 0) continue;
      MicrobatchContext context;
      context.device = &state_.devices[device];
      context.constants = state_.constants;
      if (!OutputsFinite(command, context, 0)) return Describe(command, device);
    }
    return "";
  }

  std::string Describe(const CpuCommand& command, int device) const {
    return DescribeCommand(executable_, command.table(), state_.first_replica + device);
  }

 private:
  // Returns false if an output has a NaN or infinity in its first `rows` rows. Returns true, without reading the
  // outputs, for commands that no check depends on or whose outputs are not plain numbers.
  bool OutputsFinite(const CpuCommand& command, const MicrobatchContext& context, int64_t rows) const {
    if (!checked_.contains(&command.table()) || !command.command().has_plain_outputs()) return true;
    for (const Operand& o : command.outputs()) {
      if (!AllFinite(o.dtype, context.Address(o), o.row_bytes > 0 ? rows * o.elements : o.elements)) return false;
    }
    return true;
  }

  const Executable& executable_;
  const StepState& state_;
  const StepPlan& plan_;
  const std::set<const format::Command*> checked_;
};

}  // namespace

absl::StatusOr<std::string> FindNonFiniteCommand(const Executable& executable, const StepState& state,
                                                 const StepPlan& plan, ThreadPool& pool) {
  const format::Program& program = executable.index().programs[executable.index().replicas[0].program];
  NonFiniteFinder finder(executable, program, state, plan);
  for (const PlannedSection& section : plan.sections) {
    if (section.kind == format::SectionKind::kMap) {
      absl::StatusOr<std::string> found = std::string();
      pool.ParallelFor(1, [&](int64_t, int thread) { found = finder.MapSection(section, thread); });
      if (!found.ok() || !found->empty()) return found;
      continue;
    }
    for (const std::unique_ptr<CpuCommand>& command : section.commands) {
      if (command->command().WritesVariables(program)) return std::string();
      TD_ASSIGN_OR_RETURN(bool finite, RunGlobalCommand(state, *command, pool));
      if (!finite) return finder.Describe(*command, 0);
      std::string found = finder.GlobalOutputs(*command);
      if (!found.empty()) return found;
    }
  }
  return std::string();
}

}  // namespace tandem
