// Expected times of a compiled program's commands, from the executable alone. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_
#define TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_

#include <cstdint>

#include "passes/analysis/cost_model.h"
#include "runtime/command_info.h"

namespace tandem {

// One execution of `command`, a command of `executable`, on `rows` rows (none in a global command) while `threads`
// threads do the like. What the commands of a microbatch touch, they touch in turn: operands come from the level of
// memory that holds the microbatch's arena.
Cost ExpectedCost(const MachineModel& machine, const Executable& executable, const CommandInfo& command, int64_t rows,
                  int threads = 1);

// The time below which the machine cannot do it: without the overhead of calls. Seconds.
inline double LimitSeconds(const Cost& cost) {
  return cost.compute_seconds > cost.memory_seconds ? cost.compute_seconds : cost.memory_seconds;
}

// The expected time of a command that runs for so many devices: what it costs beside the limit counts once. Seconds.
inline double SecondsForDevices(const Cost& cost, double devices) {
  return cost.seconds + (devices - 1) * LimitSeconds(cost);
}

// The machine that `executable` was compiled for: the model that the compiler recorded; where there is none that this
// version knows, the most cautious built-in one for its target.
MachineModel MachineModelOf(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_
