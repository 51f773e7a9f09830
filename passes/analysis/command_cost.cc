#include "passes/analysis/command_cost.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "runtime/format/index.h"

namespace tandem {

Cost ExpectedCost(const MachineModel& machine, const Executable& executable, const CommandInfo& command, int64_t rows,
                  int threads) {
  Work work;
  const double flops = command.work.Flops(rows);
  (!command.library   ? work.vector_flops
   : command.bfloat16 ? work.library_bf16_flops
   : command.tf32     ? work.library_tf32_flops
                      : work.library_flops) = flops;
  work.bytes = command.work.Bytes(rows);
  if (command.map) {
    const format::Index& index = executable.index();
    work.working_set = std::max(work.bytes, static_cast<double>(index.programs[0].microbatch_bytes));
  }
  (command.library ? work.library_calls : work.kernel_calls) = 1;
  Cost cost = CostOf(machine, work, threads);
  if (!command.map) {
    cost.overhead_seconds += machine.section_overhead;
    cost.seconds += machine.section_overhead;
    if (cost.overhead_seconds > LimitSeconds(cost)) cost.bound = Bound::kOverhead;
  }
  return cost;
}

MachineModel MachineModelOf(const Executable& executable) {
  // The name of a built-in model, or the text of a model's file.
  const std::string& recorded = executable.index().machine_model;
  if (absl::StatusOr<MachineModel> model = BuiltInMachineModel(recorded); model.ok()) return *std::move(model);
  if (absl::StatusOr<MachineModel> model = ParseMachineModel("as compiled", recorded); model.ok()) {
    return *std::move(model);
  }
  const std::string& target = executable.index().target;
  return *BuiltInMachineModel(absl::StartsWith(target, "cuda")        ? "h200"
                              : absl::StrContains(target, " avx512f") ? "generic-avx512"
                                                                      : "generic-avx2");
}

}  // namespace tandem
