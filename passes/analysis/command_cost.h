// Expected times of a compiled program's commands, from the executable alone. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_
#define TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_

#include <cstdint>

#include "passes/analysis/cost_model.h"
#include "runtime/executable/command_info.h"

namespace tandem {

// Returns the cost of one execution of `command`, a command of `executable`, on `rows` rows (0 for a global command,
// which runs once for all rows) while `threads` threads do the same kind of work. The commands of a microbatch share an
// arena, so their operands are taken to come from the smallest level of memory that holds the whole arena.
Cost ExpectedCost(const MachineModel& machine, const Executable& executable, const CommandInfo& command, int64_t rows,
                  int threads = 1);

// Returns the time, in seconds, without the overhead of calls: the machine cannot be faster.
inline double LimitSeconds(const Cost& cost) {
  return cost.compute_seconds > cost.memory_seconds ? cost.compute_seconds : cost.memory_seconds;
}

// Returns the expected time, in seconds, of a command that runs for `devices` devices: its overhead counts only once.
inline double SecondsForDevices(const Cost& cost, double devices) {
  return cost.seconds + (devices - 1) * LimitSeconds(cost);
}

// Returns the model of the machine that `executable` was compiled for, which the compiler recorded. Where this version
// does not know that model, returns the most cautious built-in one for the target.
MachineModel MachineModelOf(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_COMMAND_COST_H_
