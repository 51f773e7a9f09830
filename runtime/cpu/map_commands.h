// Commands of map sections: one microbatch of one lane, on one thread.
#ifndef TANDEM_RUNTIME_CPU_MAP_COMMANDS_H_
#define TANDEM_RUNTIME_CPU_MAP_COMMANDS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cpu/lane_progress.h"
#include "runtime/cpu/step_plan.h"
#include "runtime/cpu/step_state.h"

namespace tandem {

// Called after each command with it, where its operands are, and the number of rows; false ends the lane.
using AfterCommand = absl::FunctionRef<bool(const CpuCommand&, const MicrobatchContext&, int64_t rows)>;

struct LaneId {
  int device = 0;
  int lane = 0;  // of the device
};

// 0 for a lane without rows.
int32_t MicrobatchesOfLane(const StepState& state, const LaneId& lane);

// Runs the microbatches of a lane that no helper takes. When it and its helpers have returned, the section's sums for
// the lane are in its slot. Nothing happens for a lane without rows. After an error the slot is worthless.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, LaneProgress& progress);
// Runs one microbatch of a lane that RunLane runs in another thread, or none if none is left.
absl::Status HelpLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                      int thread, LaneProgress& progress);
// Whether lanes that the plan joins, the first of which is `first`, have all their rows.
bool LanesAreFull(const StepState& state, const LaneId& first, int count);
// Runs full lanes that the plan joins, the first of which is `first`, a command after the other.
absl::Status RunLanesTogether(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                              const LaneId& first, int thread);
// Without helpers.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, AfterCommand after_command);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_MAP_COMMANDS_H_
