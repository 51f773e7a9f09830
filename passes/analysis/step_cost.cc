#include "passes/analysis/step_cost.h"

#include <algorithm>

namespace tandem {

Cost ExpectedCost(const MachineModel& machine, const Executable& executable, const StepInfo& step, int64_t rows,
                  int threads) {
  Work work;
  const double flops = step.work.Flops(rows);
  (!step.library ? work.vector_flops : step.bfloat16 ? work.library_bf16_flops : work.library_flops) = flops;
  work.bytes = step.work.Bytes(rows);
  if (step.map) {
    const fb::ExecutableT& index = executable.index();
    work.working_set = std::max(work.bytes, static_cast<double>(index.programs[0]->shard_bytes));
  }
  (step.library ? work.library_calls : work.kernel_calls) = 1;
  Cost cost = CostOf(machine, work, threads);
  if (!step.map) {
    cost.overhead_seconds += machine.section_overhead;
    cost.seconds += machine.section_overhead;
    if (cost.overhead_seconds > LimitSeconds(cost)) cost.bound = Bound::kOverhead;
  }
  return cost;
}

MachineModel HostMachineModel() {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  // AMD's first cores with AVX-512 and with its bfloat16 instructions were Zen 4.
  const bool zen4 = avx512 && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512bf16");
  return *BuiltInMachineModel(
      MachineModelNameFor(zen4 ? "znver4" : "", avx512 ? 512 : 256, __builtin_cpu_supports("amx-bf16")));
}

}  // namespace tandem
