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

// Called after each command with the command, the addresses of its operands, and the number of rows. If it returns
// false, the lane ends.
using AfterCommand = absl::FunctionRef<bool(const CpuCommand&, const MicrobatchContext&, int64_t rows)>;

struct LaneId {
  int device = 0;
  int lane = 0;  // index of the lane on the device
};

// Returns the number of the lane's microbatches; 0 for a lane without rows.
int32_t MicrobatchesOfLane(const StepState& state, const LaneId& lane);

// Runs the microbatches of a lane, except those that helpers (threads without a lane) claim. When this and the helpers
// have returned, the section's sums for the lane are in its slot. Does nothing for a lane without rows. After an error
// the slot's values are undefined.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, LaneProgress& progress);
// As a helper, runs one microbatch of a lane whose RunLane is running in another thread; does nothing if no microbatch
// is left.
absl::Status HelpLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                      int thread, LaneProgress& progress);
// True if all of `count` lanes, from `first` on, have all their rows. The plan runs these lanes together.
bool LanesAreFull(const StepState& state, const LaneId& first, int count);
// Runs full lanes together, from `first` on, as many as the plan says: each command runs for all of them before the
// next command does.
absl::Status RunLanesTogether(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                              const LaneId& first, int thread);
// Runs a lane without helpers.
absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, AfterCommand after_command);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_MAP_COMMANDS_H_
