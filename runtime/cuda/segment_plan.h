// A GPU program's segments as the session issues them.
#ifndef TANDEM_RUNTIME_CUDA_SEGMENT_PLAN_H_
#define TANDEM_RUNTIME_CUDA_SEGMENT_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/commands/command.h"
#include "runtime/executable.h"

namespace tandem {

// What is issued at once: one collective over all replicas, or commands of each replica by itself.
struct PlannedPiece {
  enum Kind { kCommands, kAllReduce, kCombineFlag };
  Kind kind = kCommands;
  std::vector<uint32_t> commands;
  bool captured = false;  // as a CUDA graph of its own
};

struct PlannedSegment {
  format::Stream stream = format::Stream::kCompute;
  std::vector<PlannedPiece> pieces;
  std::vector<uint32_t> waits;  // segments of the plan, on other streams
  bool awaited = false;         // somebody waits for its end
};

struct SegmentPlan {
  std::vector<PlannedSegment> segments;
  std::vector<uint32_t> unawaited;  // segments on the communication stream whose end the step's end must wait for
  std::vector<bool> guarded;        // by command: behind a CheckFinite
  std::vector<const format::Command*> tables;
  std::vector<std::unique_ptr<Command>> commands;  // by command
  std::vector<bool> map;                           // by command: in a map section
  std::vector<int> ids;                            // by command: of ListCommands (command_info.h)
};

// With one replica, collectives are left out, and what they separated becomes one segment again. A CheckFinite of
// values that replicas do not hold alike (that are no results of collectives) is followed by a combination of the
// flags. A captured segment with something in it that no graph can hold is cut there.
SegmentPlan MakeSegmentPlan(const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_SEGMENT_PLAN_H_
