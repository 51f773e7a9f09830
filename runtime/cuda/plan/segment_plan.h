// The segments of a GPU program (commands of one stream between two waits) as the session issues them.
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
  bool captured = false;  // true if issued as a CUDA graph of its own
};

struct PlannedSegment {
  format::Stream stream = format::Stream::kCompute;
  std::vector<PlannedPiece> pieces;
  std::vector<uint32_t> waits;  // indices of segments of the plan, on other streams
  bool awaited = false;         // true if another segment, or the end of the step, waits for the end of this one
};

struct SegmentPlan {
  std::vector<PlannedSegment> segments;
  std::vector<uint32_t> unawaited;  // segments on the communication stream whose end the step's end must wait for
  std::vector<bool> guarded;        // indexed by command: true if it is behind a CheckFinite
  std::vector<const format::Command*> tables;
  std::vector<std::unique_ptr<Command>> commands;  // indexed by command
  std::vector<bool> map;                           // indexed by command: true if it is in a map section
  std::vector<int> ids;                            // indexed by command: index in ListCommands (command_info.h)
};

// Plans the segments. With one replica, collectives are left out, and the commands that they separated become one
// segment again. If a CheckFinite reads values that may differ between replicas (they are not results of collectives),
// a combination of the replicas' flags follows it. A captured segment is divided where a command cannot be in a graph.
SegmentPlan MakeSegmentPlan(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_PLAN_SEGMENT_PLAN_H_
