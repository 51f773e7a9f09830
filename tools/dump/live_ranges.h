// Live ranges of the buffers in a program's arenas: the commands during which their content is still needed.
#ifndef TANDEM_TOOLS_DUMP_LIVE_RANGES_H_
#define TANDEM_TOOLS_DUMP_LIVE_RANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

struct LiveBuffer {
  uint32_t buffer = 0;  // its index in the program
  uint64_t offset = 0, bytes = 0;
  int first = 0, last = 0;  // commands of the timeline, both included
};

// One arena over all commands of the program. Values in the microbatch arena end with their section.
struct ArenaTimeline {
  std::string title;             // "microbatch arena"
  uint64_t bytes = 0;            // of the arena
  std::vector<LiveBuffer> live;  // by first command
  uint64_t peak = 0;             // the most bytes that are live at one time
};

// Computed from the commands' operands: a buffer lives from the command that writes it to the last one that reads it or
// a view of it (a buffer in the same place that no command writes). An output of the program lives to the end.
std::vector<ArenaTimeline> ArenaTimelines(const format::Index& index, const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_LIVE_RANGES_H_
