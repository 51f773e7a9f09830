// Steps of global sections: all devices, cut into tasks that any thread may take.
#ifndef TANDEM_RUNTIME_CPU_GLOBAL_STEPS_H_
#define TANDEM_RUNTIME_CPU_GLOBAL_STEPS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cpu/step_plan.h"
#include "runtime/cpu/step_state.h"
#include "runtime/thread_pool.h"

namespace tandem {

// Runs one step on all devices and returns when it is done; with `others` only what block updates leave to it
// (block_updates.h). False: a CheckFinite step found a NaN or infinity.
absl::StatusOr<bool> RunGlobalStep(const StepState& state, const PlannedStep& step, ThreadPool& pool,
                                   bool others = false);

// Runs steps of which the first has Step.together = their number, all at the same time.
absl::Status RunTogether(const StepState& state, absl::Span<const PlannedStep> steps, ThreadPool& pool);

// Whether all of `n` numbers are finite; true for integers.
bool AllFinite(DType dtype, const void* data, int64_t n);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_GLOBAL_STEPS_H_
