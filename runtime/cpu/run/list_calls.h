// The calls of a flat program as a list.
#ifndef TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_
#define TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/call_list.h"
#include "runtime/cpu/step/step_state.h"

namespace tandem {

// Lists the calls of `executable`, which is flat. DataLoss for a command that a list cannot contain: it is of another
// kind, or has work for more than one thread. State and plan must outlive the list and keep their memory where it is.
absl::StatusOr<std::unique_ptr<CallList>> ListCalls(const Executable& executable, const StepState& state,
                                                    const StepPlan& plan);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_LIST_CALLS_H_
