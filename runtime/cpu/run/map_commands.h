// Runs commands of map sections: each for one microbatch of one lane, on one thread.
#ifndef TANDEM_RUNTIME_CPU_RUN_MAP_COMMANDS_H_
#define TANDEM_RUNTIME_CPU_RUN_MAP_COMMANDS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/lane_progress.h"
#include "runtime/cpu/step/step_state.h"

namespace tandem {

// Called after each command with the command, the places of its operands, and the number of rows; false ends the lane.
using AfterCommand = absl::FunctionRef<bool(const CpuCommand&, const MicrobatchContext&, int64_t rows)>;

struct LaneId {
  int device = 0;
  int lane = 0;  // index of the lane on the device
};

// Returns the number of the lane's microbatches; 0 for a lane without rows.
int32_t MicrobatchesOfLane(const StepState& state, const LaneId& lane);

// Runs the microbatches of a lane that no helper takes. When it and its helpers have returned, the section's sums for
// the lane are in its slot. Nothing happens for a lane without rows. After an error the slot's values are undefined.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, LaneProgress& progress);
// As a helper, runs one microbatch of a lane whose RunLane runs in another thread; does nothing if none is left.
absl::Status HelpLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                      int thread, LaneProgress& progress);
// True if `count` lanes that the plan joins, the first of which is `first`, have all their rows.
bool LanesAreFull(const StepState& state, const LaneId& first, int count);
// Runs full lanes that the plan joins, the first of which is `first`: each command for all of them before the next
// command.
absl::Status RunLanesTogether(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                              const LaneId& first, int thread);
// Runs a lane without helpers.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, AfterCommand after_command);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_MAP_COMMANDS_H_
