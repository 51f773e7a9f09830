#include "runtime/cpu/run/map_commands.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/cpu/run/buffer_guard.h"
#include "runtime/cpu/step/lane_progress.h"

namespace tandem {
namespace {

void Merge(const LaneMerge& merge, uint8_t* slot, const uint8_t* part) {
  Combine(merge.kind, merge.operand.dtype, slot + merge.operand.offset, part + merge.operand.offset,
          merge.operand.elements);
}

// Observers are told what happens to microbatches: Ran is called after each command (if it returns false, the lane
// ends), Waited before a microbatch is added to the lane's slot, and Merged afterwards. This observer does nothing.
struct NoObserver {
  bool Ran(const CpuCommand&, const MicrobatchContext&, int64_t) { return true; }
  void Waited() {}
  void Merged(const PlannedSection&) {}
};

struct CallingObserver {
  AfterCommand after_command;
  bool Ran(const CpuCommand& command, const MicrobatchContext& context, int64_t rows) {
    return after_command(command, context, rows);
  }
  void Waited() {}
  void Merged(const PlannedSection&) {}
};

class TimingObserver {
 public:
  explicit TimingObserver(std::vector<TimeCount>& times) : times_(times) {}
  bool Ran(const CpuCommand& command, const MicrobatchContext&, int64_t) {
    Count(command.id);
    return true;
  }
  void Waited() { last_ = std::chrono::steady_clock::now(); }
  void Merged(const PlannedSection& section) { Count(section.merges_id); }

 private:
  void Count(int id) {
    const auto now = std::chrono::steady_clock::now();
    times_[id].nanoseconds += std::chrono::nanoseconds(now - last_).count();
    ++times_[id].calls;
    last_ = now;
  }

  std::vector<TimeCount>& times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Writes a record of the trace for each command. A record begins when the one before it ended, so the clock is read
// once for both.
class TracingObserver {
 public:
  TracingObserver(std::vector<CommandRecord>& records, int device, int64_t rows_per_lane)
      : records_(records), device_(device), rows_per_lane_(rows_per_lane) {}
  bool Ran(const CpuCommand& command, const MicrobatchContext& context, int64_t rows) {
    lane_ = static_cast<int>(context.row / rows_per_lane_);
    Record(command.id, rows);
    return true;
  }
  void Waited() { last_ = TraceNow(); }
  void Merged(const PlannedSection& section) { Record(section.merges_id, 0); }

 private:
  void Record(int id, int64_t rows) {
    const int64_t now = TraceNow();
    records_.push_back({id, device_, lane_, static_cast<int32_t>(rows), last_, now});
    last_ = now;
  }

  std::vector<CommandRecord>& records_;
  const int device_;
  const int64_t rows_per_lane_;
  int lane_ = 0;  // lane of the last command that ran
  int64_t last_ = TraceNow();
};

// Checks the memory between this thread's buffers.
class GuardObserver {
 public:
  GuardObserver(BufferGuard& guard, int thread) : guard_(guard), thread_(thread) {}
  bool Ran(const CpuCommand& command, const MicrobatchContext&, int64_t) {
    return guard_.CheckThread(thread_, command.table());
  }
  void Waited() {}
  void Merged(const PlannedSection&) {}

 private:
  BufferGuard& guard_;
  const int thread_;
};

// Returns the context of the microbatch that begins at row `begin` of a lane; its sums go to the lane's slot.
MicrobatchContext ContextOf(const StepState& state, const LaneId& lane, int64_t begin, int thread) {
  MicrobatchContext context;
  context.device = &state.devices[lane.device];
  // A thread reads its own device's copy of packed weights, also for lanes of other devices: copies that only one
  // thread reads are cheap to write in the next step (thread_pool.h).
  context.home = state.CommonOf(thread * state.devices.size() / state.threads.size());
  context.microbatch = state.threads[thread].microbatch.data();
  context.constants = state.constants;
  context.row = lane.lane * state.rows_per_lane + begin;
  context.lane = state.LaneSlot(lane.device, lane.lane);
  return context;
}

// Runs a microbatch that this thread has claimed, and adds it to the lane's slot when all microbatches before it have
// been added. Returns false if the lane has to end.
template <typename Observer>
absl::StatusOr<bool> RunMicrobatch(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                                   const LaneId& lane, int32_t microbatch, int thread, LaneProgress& progress,
                                   Observer& observer) {
  const int64_t begin = microbatch * state.microbatch_rows;
  const int64_t rows = std::min(state.microbatch_rows, state.LaneRows(lane.device, lane.lane) - begin);
  uint8_t* slot = state.LaneSlot(lane.device, lane.lane);
  const MapRun run{state, thread, plan.scratch_bytes};
  MicrobatchContext context = ContextOf(state, lane, begin, thread);
  if (microbatch > 0) context.lane = state.threads[thread].lane.data();
  // Other threads wait for this microbatch, so Done must be called even after an error or an exception.
  absl::StatusOr<bool> go_on = CatchResourceErrors("", [&]() -> absl::StatusOr<bool> {
    for (const std::unique_ptr<CpuCommand>& command : section.commands) {
      TD_RETURN_IF_ERROR(command->RunRows(run, context, rows, context.device->first_row + context.row));
      if (!observer.Ran(*command, context, rows)) return false;
    }
    return true;
  });
  if (microbatch > 0) {
    progress.AwaitTurn(microbatch);
    if (go_on.ok() && *go_on) {
      go_on = CatchResourceErrors("", [&]() -> absl::StatusOr<bool> {
        observer.Waited();
        for (const LaneMerge& merge : section.merges) Merge(merge, slot, context.lane);
        observer.Merged(section);
        return true;
      });
    }
  }
  progress.Done(microbatch);
  return go_on;
}

// Runs lanes of one microbatch each together: a command runs for all of them before the next command does.
template <typename Observer>
absl::Status RunInTurns(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                        const LaneId& first, int thread, Observer observer) {
  const MapRun run{state, thread, plan.scratch_bytes};
  absl::InlinedVector<MicrobatchContext, 4> lanes;
  for (int i = 0; i < section.lanes_together; ++i) {
    MicrobatchContext context = ContextOf(state, {first.device, first.lane + i}, 0, thread);
    context.lanes_together = section.lanes_together;
    context.lane_of_those = i;
    context.lane_rows = state.microbatch_rows;
    lanes.push_back(context);
  }
  for (const std::unique_ptr<CpuCommand>& command : section.commands) {
    if (command->is_joint()) {
      TD_RETURN_IF_ERROR(command->RunJoint(run, lanes[0]));
      observer.Ran(*command, lanes[0], section.lanes_together * state.microbatch_rows);
      continue;
    }
    for (const MicrobatchContext& lane : lanes) {
      TD_RETURN_IF_ERROR(command->RunRows(run, lane, state.microbatch_rows, lane.device->first_row + lane.row));
      observer.Ran(*command, lane, state.microbatch_rows);
    }
  }
  return absl::OkStatus();
}

template <typename Observer>
absl::Status RunOwnMicrobatches(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                                const LaneId& lane, int thread, LaneProgress& progress, Observer observer) {
  absl::StatusOr<bool> go_on = true;
  for (int32_t microbatch; (microbatch = progress.ClaimNext()) >= 0;) {
    if (go_on.ok() && *go_on) {
      go_on = RunMicrobatch(state, plan, section, lane, microbatch, thread, progress, observer);
    } else {  // helpers still wait for this microbatch
      progress.AwaitTurn(microbatch);
      progress.Done(microbatch);
    }
  }
  return go_on.status();
}

// Calls run(observer) with the observer that `state` requires for this thread.
template <typename Run>
auto WithObserver(const StepState& state, int thread, int device, Run run) {
  const ThreadState& memory = state.threads[thread];
  if (state.guard != nullptr) return run(GuardObserver(*state.guard, thread));
  if (memory.records != nullptr) return run(TracingObserver(*memory.records, device, state.rows_per_lane));
  if (!memory.times.empty()) return run(TimingObserver(memory.times));
  return run(NoObserver());
}

}  // namespace

int32_t MicrobatchesOfLane(const StepState& state, const LaneId& lane) {
  return static_cast<int32_t>((state.LaneRows(lane.device, lane.lane) + state.microbatch_rows - 1) /
                              state.microbatch_rows);
}

absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, LaneProgress& progress) {
  return WithObserver(state, thread, lane.device, [&](auto observer) {
    return RunOwnMicrobatches(state, plan, section, lane, thread, progress, std::move(observer));
  });
}

absl::Status HelpLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                      int thread, LaneProgress& progress) {
  const int32_t microbatch = progress.ClaimLast();
  if (microbatch < 0) return absl::OkStatus();
  return WithObserver(state, thread, lane.device, [&](auto observer) {
    return RunMicrobatch(state, plan, section, lane, microbatch, thread, progress, observer).status();
  });
}

bool LanesAreFull(const StepState& state, const LaneId& first, int count) {
  return state.LaneRows(first.device, first.lane + count - 1) == state.rows_per_lane;
}

absl::Status RunLanesTogether(const StepState& state, const StepPlan& plan, const PlannedSection& section,
                              const LaneId& first, int thread) {
  return WithObserver(state, thread, first.device, [&](auto observer) {
    return RunInTurns(state, plan, section, first, thread, std::move(observer));
  });
}

absl::Status RunLane(const StepState& state, const StepPlan& plan, const PlannedSection& section, const LaneId& lane,
                     int thread, AfterCommand after_command) {
  LaneProgress alone;
  alone.Reset(MicrobatchesOfLane(state, lane));
  return RunOwnMicrobatches(state, plan, section, lane, thread, alone, CallingObserver{after_command});
}

}  // namespace tandem
