// Steps of map sections: one shard of one lane, on one thread.
#ifndef TANDEM_RUNTIME_CPU_MAP_STEPS_H_
#define TANDEM_RUNTIME_CPU_MAP_STEPS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cpu/step_plan.h"
#include "runtime/cpu/step_state.h"

namespace tandem {

// Called after each step with the step, where its operands are, and the number of rows; false ends the lane.
using AfterStep = absl::FunctionRef<bool(const PlannedStep&, const ShardContext&, int64_t rows)>;

// Runs all shards of a lane, which puts the section's sums for the lane into its slot. Nothing happens for a lane
// without rows.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, int device, int lane,
                     int thread);
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, int device, int lane,
                     int thread, AfterStep after_step);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_MAP_STEPS_H_
