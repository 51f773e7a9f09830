// Expected times of a compiled program's steps, from the executable alone. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_STEP_COST_H_
#define TANDEM_PASSES_ANALYSIS_STEP_COST_H_

#include <cstdint>

#include "passes/analysis/cost_model.h"
#include "runtime/step_info.h"

namespace tandem {

// One execution of `step`, a step of `executable`, on `rows` rows (none in a global step) while `threads` threads do
// the like. What the steps of a shard touch, they touch in turn: operands come from the level of memory that holds the
// shard's arena.
Cost ExpectedCost(const MachineModel& machine, const Executable& executable, const StepInfo& step, int64_t rows,
                  int threads = 1);

// The time below which the machine cannot do it: without the overhead of calls. Seconds.
inline double LimitSeconds(const Cost& cost) {
  return cost.compute_seconds > cost.memory_seconds ? cost.compute_seconds : cost.memory_seconds;
}

// The machine that `executable` was compiled for: the model that the compiler recorded; where there is none that this
// version knows, the most cautious built-in one for its target.
MachineModel MachineModelOf(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_STEP_COST_H_
