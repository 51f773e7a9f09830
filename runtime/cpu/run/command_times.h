// Sums the times that a session's threads have measured, per command, as the user sees them.
#ifndef TANDEM_RUNTIME_CPU_RUN_COMMAND_TIMES_H_
#define TANDEM_RUNTIME_CPU_RUN_COMMAND_TIMES_H_

#include <vector>

#include "runtime/cpu/step/step_state.h"
#include "runtime/session/session.h"

namespace tandem {

// Returns the times summed over all threads of `state`; empty if the threads do not measure times.
std::vector<CommandTime> SumCommandTimes(const Executable& executable, const StepState& state);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_COMMAND_TIMES_H_
