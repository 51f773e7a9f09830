// The memory that a program runs in, and the address of each operand in it.
#ifndef TANDEM_RUNTIME_CPU_STEP_STEP_STATE_H_
#define TANDEM_RUNTIME_CPU_STEP_STEP_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/align.h"
#include "runtime/cpu/step/operand.h"
#include "runtime/format/index.h"
#include "runtime/session/command_trace.h"
#include "runtime/variables/arena.h"

namespace tandem {

struct DeviceState {
  Arena step, batch, lanes;
  std::vector<void*> variables;
  std::vector<uint64_t> scalars;  // the program's scalars, 8 bytes each whatever their type
  // The following members are set for every step.
  std::vector<const uint8_t*> inputs;
  int64_t rows = 0;
  int64_t first_row = 0;  // first row in the global batch: the number of rows of all devices before this one
};

// How often a command was called, and the time of all these calls together.
struct TimeCount {
  int64_t nanoseconds = 0;
  int64_t calls = 0;
};

struct ThreadState {
  Arena microbatch;
  // a slot for the results of microbatches after a lane's first, from which they are added to the lane's own slot
  Arena lane;
  Arena library;  // memory for library calls: scratch, then staging
  std::vector<void*> args;
  mutable std::vector<TimeCount> times;           // indexed by id of command; empty when commands are not timed
  std::vector<CommandRecord>* records = nullptr;  // null when commands are not traced
};

class BufferGuard;
class ProcessGroup;

struct StepState {
  std::vector<DeviceState> devices;
  std::vector<ThreadState> threads;
  const uint8_t* constants = nullptr;
  uint64_t lane_stride = 0;
  int lanes_per_replica = 0;  // copy of the executable's field
  // Those of the executable or, for a step with fewer rows, those that suit it (run/row_spread.h).
  int64_t rows_per_lane = 0, microbatch_rows = 0;
  // The devices from which values that are the same on all devices are read. They are those of another session if it
  // has computed these values for this one too (Session::MakeSibling). Null stands for `devices`.
  const DeviceState* common = nullptr;
  // Set for every step: true if the results that invariant commands computed in an earlier step are still valid.
  bool invariants_valid = false;
  BufferGuard* guard = nullptr;  // null unless memory between buffers is watched
  // The processes that run the other replicas; null where this process runs all, and while it searches for a value that
  // is not finite.
  ProcessGroup* group = nullptr;
  int first_replica = 0;  // the number of this process' first device among all replicas
  bool one_copy = false;  // true if all devices share one copy of the variables, which only the first device writes
  // Set for every step, over all processes: the number of replicas with rows, and which processes have such a replica.
  int replicas_with_rows = 0;
  std::unique_ptr<bool[]> processes_with_rows;  // indexed by rank: true if the process has rows; null without a group
  // Set for every step: false if an all-reduce with `checks` has combined values that are not finite.
  mutable std::atomic<bool> sums_finite{true};
  // Trace records of the communication thread (CommandTrace); null when commands are not traced.
  std::vector<CommandRecord>* communication = nullptr;

  int64_t LaneRows(int device, int lane) const {
    int64_t rows = devices[device].rows - lane * rows_per_lane;
    return rows < 0 ? 0 : rows > rows_per_lane ? rows_per_lane : rows;
  }
  // Returns the device whose copy of common values is read for a device.
  const DeviceState* CommonOf(int64_t device) const { return (common != nullptr ? common : devices.data()) + device; }
  uint8_t* LaneSlot(int device, int lane) const { return devices[device].lanes.data() + lane * lane_stride; }
};

// Where the operands of one microbatch are in memory.
struct MicrobatchContext {
  const DeviceState* device = nullptr;
  // For values that are the same on all devices: the device whose copy is read. Null stands for `device`.
  const DeviceState* home = nullptr;
  uint8_t* microbatch = nullptr;  // the thread's microbatch arena; null outside map sections
  uint8_t* lane = nullptr;        // the lane's slot (its sums) or the thread's scratch slot
  const uint8_t* constants = nullptr;
  int64_t row = 0;  // first row in the replica's batch
  // For lanes that run together (PlannedSection): how many they are, the index of this lane among them, and the rows of
  // one.
  int lanes_together = 1, lane_of_those = 0;
  int64_t lane_rows = 0;

  uint8_t* Address(const Operand& o) const {
    switch (o.space) {
      case format::Space::kVariable:
        return static_cast<uint8_t*>(device->variables[o.index]);
      case format::Space::kInput:  // the loader refuses programs that write inputs
        return const_cast<uint8_t*>(device->inputs[o.index]) + row * o.row_bytes;
      case format::Space::kScalar:
        return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(&device->scalars[o.index]));
      case format::Space::kBatch:
        return device->batch.data() + o.offset + row * o.row_bytes;
      case format::Space::kLane:
        return lane + o.offset;
      case format::Space::kMicrobatch:
        if (lanes_together > 1) return microbatch + JointOffset(o);
        return microbatch + o.offset;
      case format::Space::kStep:
        return (o.common && home != nullptr ? home : device)->step.data() + o.offset;
      case format::Space::kConstant:
        return const_cast<uint8_t*>(constants) + o.offset;
    }
    return nullptr;
  }

 private:
  // Returns an offset in a microbatch arena that several lanes share. Every buffer in it is lanes_together times as
  // large, and the rows of neighbouring lanes follow each other.
  uint64_t JointOffset(const Operand& o) const {
    const uint64_t bytes = o.row_bytes > 0 ? lane_rows * o.row_bytes : AlignUp(o.bytes(), 64);
    return o.offset * lanes_together + bytes * lane_of_those;
  }
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_STEP_STATE_H_
