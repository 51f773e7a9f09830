// Makes the list of calls as which a flat program (of few small commands) runs.
#ifndef TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_
#define TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/call_list.h"
#include "runtime/cpu/step/step_state.h"

namespace tandem {

// Lists the calls of `executable`, which is flat. DataLoss for a command that a list cannot contain: it is of another
// kind than those of flat programs, or has work for more than one thread. State and plan must outlive the list and keep
// their memory where it is.
absl::StatusOr<std::unique_ptr<CallList>> ListCalls(const Executable& executable, const StepState& state,
                                                    const StepPlan& plan);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_
