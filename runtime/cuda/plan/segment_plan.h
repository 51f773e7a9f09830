// A GPU program's segments as the session issues them.
#ifndef TANDEM_RUNTIME_CUDA_PLAN_SEGMENT_PLAN_H_
#define TANDEM_RUNTIME_CUDA_PLAN_SEGMENT_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/commands/command.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Work that is issued at once: one collective over all replicas, or commands of each replica by itself.
struct PlannedPiece {
  enum Kind { kCommands, kAllReduce, kCombineFlag };
  Kind kind = kCommands;
  std::vector<uint32_t> commands;
  bool captured = false;  // issued as a CUDA graph of its own
};

struct PlannedSegment {
  format::Stream stream = format::Stream::kCompute;
  std::vector<PlannedPiece> pieces;
  std::vector<uint32_t> waits;  // segments of the plan, on other streams
  bool awaited = false;         // another segment, or the step's end, waits for its end
};

struct SegmentPlan {
  std::vector<PlannedSegment> segments;
  std::vector<uint32_t> unawaited;  // segments on the communication stream whose end the step's end must wait for
  std::vector<bool> guarded;        // indexed by command: true behind a CheckFinite
  std::vector<const format::Command*> tables;
  std::vector<std::unique_ptr<Command>> commands;  // indexed by command
  std::vector<bool> map;                           // indexed by command: true in a map section
  std::vector<int> ids;                            // indexed by command: index in ListCommands (command_info.h)
};

// Plans the segments. With one replica, collectives are left out, and the commands that they separated become one
// segment again. A CheckFinite of values that replicas do not hold alike (because they are no results of collectives)
// is followed by a combination of the flags. A captured segment is cut where a command cannot be in a graph.
SegmentPlan MakeSegmentPlan(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_PLAN_SEGMENT_PLAN_H_
