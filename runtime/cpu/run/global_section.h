// Runs the commands of a global section in order.
#ifndef TANDEM_RUNTIME_CPU_RUN_GLOBAL_SECTION_H_
#define TANDEM_RUNTIME_CPU_RUN_GLOBAL_SECTION_H_

#include "absl/status/statusor.h"
#include "runtime/cpu/run/communication_thread.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Runs all commands on all devices. Returns false if a CheckFinite command found a NaN or infinity; the commands behind
// it have not run then. `communication` is the thread on which all-reduces continue while the commands behind them run;
// it may be null.
absl::StatusOr<bool> RunGlobalSection(const StepState& state, const PlannedSection& section,
                                      CommunicationThread* communication, ThreadPool& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_GLOBAL_SECTION_H_
