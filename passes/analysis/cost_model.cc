#include "passes/analysis/cost_model.h"

#include <algorithm>

namespace tandem {

Work& Work::operator+=(const Work& other) {
  library_flops += other.library_flops;
  library_bf16_flops += other.library_bf16_flops;
  library_tf32_flops += other.library_tf32_flops;
  vector_flops += other.vector_flops;
  transcendentals += other.transcendentals;
  bytes += other.bytes;
  working_set = std::max(working_set, other.working_set);
  library_calls += other.library_calls;
  kernel_calls += other.kernel_calls;
  return *this;
}

const char* BoundName(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kL1:
      return "L1";
    case Bound::kL2:
      return "L2";
    case Bound::kL3:
      return "L3";
    case Bound::kDram:
      return "DRAM";
    case Bound::kOverhead:
      break;
  }
  return "overhead";
}

Bound LevelOf(const MachineModel& machine, double working_set_bytes, int threads) {
  if (working_set_bytes <= machine.l1_bytes) return Bound::kL1;
  if (working_set_bytes <= machine.l2_bytes) return Bound::kL2;
  if (working_set_bytes * threads <= machine.l3_bytes) return Bound::kL3;
  return Bound::kDram;
}

double Bandwidth(const MachineModel& machine, double working_set_bytes, int threads) {
  switch (LevelOf(machine, working_set_bytes, threads)) {
    case Bound::kL1:
      return machine.l1_bandwidth;
    case Bound::kL2:
      return machine.l2_bandwidth;
    case Bound::kL3:
      return std::min(machine.l3_bandwidth, machine.l3_bandwidth_machine / threads);
    default:
      return std::min(machine.dram_bandwidth, machine.dram_bandwidth_machine / threads);
  }
}

Cost CostOf(const MachineModel& machine, const Work& work, int threads) {
  Cost cost;
  cost.compute_seconds = work.library_flops / machine.library_f32 + work.library_bf16_flops / machine.library_bf16 +
                         work.library_tf32_flops / machine.library_tf32 + work.vector_flops / machine.vector_f32 +
                         work.transcendentals / machine.transcendentals;
  const double working_set = work.working_set > 0 ? work.working_set : work.bytes;
  cost.memory_seconds = work.bytes / Bandwidth(machine, working_set, threads);
  cost.overhead_seconds =
      work.library_calls * machine.library_call_overhead + work.kernel_calls * machine.kernel_call_overhead;
  const double busy = std::max(cost.compute_seconds, cost.memory_seconds);
  cost.seconds = busy + cost.overhead_seconds;
  if (busy >= cost.overhead_seconds && busy > 0) {
    cost.bound = cost.compute_seconds >= cost.memory_seconds ? Bound::kCompute : LevelOf(machine, working_set, threads);
  }
  return cost;
}

}  // namespace tandem
