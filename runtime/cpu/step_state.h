// The memory that a program runs in, and the address of each operand in it.
#ifndef TANDEM_RUNTIME_CPU_STEP_STATE_H_
#define TANDEM_RUNTIME_CPU_STEP_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/align.h"
#include "runtime/arena.h"
#include "runtime/command_trace.h"
#include "runtime/cpu/operand.h"
#include "runtime/format/index.h"

namespace tandem {

struct DeviceState {
  Arena step, batch, lanes;
  std::vector<void*> variables;
  std::vector<uint64_t> scalars;  // 8 bytes each, of any type
  // Of the running step:
  std::vector<const uint8_t*> inputs;
  int64_t rows = 0;
  int64_t first_row = 0;  // in the global batch: the rows of the devices before
};

// Where the time goes, by id of command.
struct TimeCount {
  int64_t nanoseconds = 0;
  int64_t calls = 0;
};

struct ThreadState {
  Arena microbatch;
  Arena lane;     // where microbatches after a lane's first put what is then added to the slot
  Arena library;  // scratch, then staging
  std::vector<void*> args;
  mutable std::vector<TimeCount> times;           // empty when commands are not timed
  std::vector<CommandRecord>* records = nullptr;  // null when commands are not traced
};

class BufferGuard;
class ProcessGroup;

struct StepState {
  std::vector<DeviceState> devices;
  std::vector<ThreadState> threads;
  const uint8_t* constants = nullptr;
  uint64_t lane_stride = 0;
  // Copies of the executable's numbers.
  int lanes_per_replica = 0;
  int64_t rows_per_lane = 0, microbatch_rows = 0;
  // Of the running step: what invariant commands computed before is still there and right.
  bool invariants_valid = false;
  BufferGuard* guard = nullptr;  // null unless memory between buffers is watched
  // The processes that run the other replicas; null where this one runs all, and while it looks for a value that is not
  // finite.
  ProcessGroup* group = nullptr;
  int first_replica = 0;  // the number of this process' first device among all replicas
  bool one_copy = false;  // of the variables, for all devices: the first one alone writes it
  // Of the running step, over all processes: replicas with rows, and the processes that have one of them.
  int replicas_with_rows = 0;
  std::unique_ptr<bool[]> processes_with_rows;  // by rank; null without a group
  // Of the running step: whether all is finite that all-reduces with `checks` have combined.
  mutable std::atomic<bool> sums_finite{true};
  // What the communication thread does (CommandTrace); null when commands are not traced.
  std::vector<CommandRecord>* communication = nullptr;

  int64_t LaneRows(int device, int lane) const {
    int64_t rows = devices[device].rows - lane * rows_per_lane;
    return rows < 0 ? 0 : rows > rows_per_lane ? rows_per_lane : rows;
  }
  uint8_t* LaneSlot(int device, int lane) const { return devices[device].lanes.data() + lane * lane_stride; }
};

// Where operands of one microbatch are.
struct MicrobatchContext {
  const DeviceState* device = nullptr;
  const DeviceState* home = nullptr;  // whose copies are read of what is the same on all; null: `device`
  uint8_t* microbatch = nullptr;      // null outside map sections
  uint8_t* lane = nullptr;            // slot or scratch slot
  const uint8_t* constants = nullptr;
  int64_t row = 0;  // of the replica's batch
  // Of lanes that run together (PlannedSection): how many, which of them this is, and the rows of one.
  int lanes_together = 1, lane_of_those = 0;
  int64_t lane_rows = 0;

  uint8_t* Address(const Operand& o) const {
    switch (o.space) {
      case format::Space::kVariable:
        return static_cast<uint8_t*>(device->variables[o.index]);
      case format::Space::kInput:  // never written: the loader refuses it
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
  // Every buffer is as many times as large, and rows of neighbouring lanes are neighbours.
  uint64_t JointOffset(const Operand& o) const {
    const uint64_t bytes = o.row_bytes > 0 ? lane_rows * o.row_bytes : AlignUp(o.bytes(), 64);
    return o.offset * lanes_together + bytes * lane_of_those;
  }
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_STATE_H_
