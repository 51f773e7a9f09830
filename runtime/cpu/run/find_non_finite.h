// Finds the command that computed the first NaN or infinity.
#ifndef TANDEM_RUNTIME_CPU_RUN_FIND_NON_FINITE_H_
#define TANDEM_RUNTIME_CPU_RUN_FIND_NON_FINITE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/executable/executable.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Runs the program with the inputs in `state`, lane by lane on one thread. Stops at the first command whose outputs
// have a NaN or infinity, or before the first that writes a variable. Returns "<command> [file:line], replica 0
// (cpu:0), lane 3" (lanes are counted over all replicas; global commands have none), or "" when all is finite.
absl::StatusOr<std::string> FindNonFiniteCommand(const Executable& executable, const StepState& state,
                                                 const StepPlan& plan, ThreadPool& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_FIND_NON_FINITE_H_
