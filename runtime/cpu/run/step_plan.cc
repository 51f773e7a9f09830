#include "runtime/cpu/run/step_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/cpu/run/block_updates.h"

namespace tandem {
namespace {

class Planner {
 public:
  Planner(const Executable& executable, const LoadedKernels& kernels, int replicas, int num_threads)
      : executable_(executable),
        lanes_(replicas * executable.lanes_per_replica()),
        index_(executable.index()),
        program_(index_.programs[index_.replicas[0].program]),
        context_{executable, program_, kernels, num_threads} {}

  absl::StatusOr<StepPlan> Run() {
    for (const auto& output : index_.outputs) plan_.outputs.push_back(context_.MakeOperand(output.buffer));
    bool shares = !program_.flat;  // a list of calls computes everything in every step
    for (const auto& section : program_.sections) {
      PlannedSection planned;
      planned.kind = section.kind;
      planned.run_inline = section.run_inline;
      for (const auto& table : section.commands) {
        absl::StatusOr<std::unique_ptr<CpuCommand>> command = NewCpuCommand(context_, table);
        if (!command.ok()) return Annotate(command.status(), absl::StrCat(table.name, ": "), At(table));
        (*command)->id = plan_.num_ids++;
        (*command)->writes_variables = (*command)->command().WritesVariables(program_);
        plan_.writes_variables |= (*command)->writes_variables;
        plan_.overlaps |= table.overlap > 0;
        plan_.max_operands = std::max(plan_.max_operands, table.inputs.size() + table.outputs.size());
        shares &= SharesOutputs(**command);
        planned.commands.push_back(*std::move(command));
      }
      PlanBlockUpdates(section, planned, &plan_.scratch_bytes);
      if (section.kind == format::SectionKind::kMap) {
        AddMerges(planned, section);
        TD_RETURN_IF_ERROR(JoinLanes(planned, section));
      }
      for (const std::unique_ptr<CpuCommand>& command : planned.commands) {
        plan_.scratch_bytes = std::max(plan_.scratch_bytes, command->scratch_bytes());
        plan_.staging_bytes = std::max(plan_.staging_bytes, command->staging_bytes());
      }
      planned.merges_id = plan_.num_ids++;
      plan_.sections.push_back(std::move(planned));
    }
    plan_.shares_invariants = shares;
    return std::move(plan_);
  }

 private:
  std::string At(const format::Command& table) const {
    std::string location = executable_.LocationString(table.location);
    return location.empty() ? "" : absl::StrCat(" [", location, "]");
  }

  // True if the command writes only values that are the same on all devices and is invariant, or none of these.
  static bool SharesOutputs(const CpuCommand& command) {
    const bool invariant = command.table().invariant;
    return std::all_of(command.outputs().begin(), command.outputs().end(),
                       [&](const Operand& o) { return o.common == invariant; });
  }

  // Makes lanes run together if every thread has enough of them, else they run one by one. This is decided here because
  // the compiler does not know the number of threads.
  absl::Status JoinLanes(PlannedSection& planned, const format::Section& section) {
    const auto together = static_cast<int>(section.lanes_together);
    if (together == 1 || lanes_ < together * context_.num_threads) return absl::OkStatus();
    planned.lanes_together = together;
    plan_.microbatch_arenas = std::max(plan_.microbatch_arenas, together);
    for (const std::unique_ptr<CpuCommand>& command : planned.commands) {
      if (command->table().joint) TD_RETURN_IF_ERROR(command->PlanJoint(context_, together));
    }
    return absl::OkStatus();
  }

  void AddMerges(PlannedSection& planned, const format::Section& section) {
    for (const auto& slot : program_.lane_slots) {
      const bool written = std::any_of(section.commands.begin(), section.commands.end(), [&](const auto& table) {
        return std::find(table.outputs.begin(), table.outputs.end(), slot.buffer) != table.outputs.end();
      });
      if (written) planned.merges.push_back({slot.kind, context_.MakeOperand(slot.buffer)});
    }
  }

  const Executable& executable_;
  const int lanes_;  // number of lanes that run in this process
  const format::Index& index_;
  const format::Program& program_;
  const PlanContext context_;
  StepPlan plan_;
};

}  // namespace

absl::StatusOr<StepPlan> MakeStepPlan(const Executable& executable, const LoadedKernels& kernels, int replicas,
                                      int num_threads) {
  return Planner(executable, kernels, replicas, num_threads).Run();
}

}  // namespace tandem
