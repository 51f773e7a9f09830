// Live ranges of the buffers in a program's arenas: the commands during which their content is still needed.
#ifndef TANDEM_TOOLS_DUMP_LIVE_RANGES_H_
#define TANDEM_TOOLS_DUMP_LIVE_RANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

struct LiveBuffer {
  uint32_t buffer = 0;  // the buffer's index in the program
  uint64_t offset = 0, bytes = 0;
  int first = 0, last = 0;  // numbers of the first and the last command that need the buffer
};

// The contents of one arena over all commands of the program. Values in the microbatch arena live at most to the end of
// their section.
struct ArenaTimeline {
  std::string title;             // name of the arena, such as "microbatch arena"
  uint64_t bytes = 0;            // size of the arena
  std::vector<LiveBuffer> live;  // in the order of their first commands
  uint64_t peak = 0;             // the most bytes that are live at one time
};

// Computes the live ranges from the operands of the commands. A buffer lives from the command that writes it to the
// last command that reads it or a view of it (another buffer in the same memory that no command writes). An output of
// the program lives to the end.
std::vector<ArenaTimeline> ArenaTimelines(const format::Index& index, const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_LIVE_RANGES_H_
