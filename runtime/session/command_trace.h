// Records of the work of a session's threads: one per execution of a program's command.
#ifndef TANDEM_RUNTIME_SESSION_COMMAND_TRACE_H_
#define TANDEM_RUNTIME_SESSION_COMMAND_TRACE_H_

#include <chrono>
#include <cstdint>
#include <vector>

namespace tandem {

// Returns the nanoseconds of the steady clock, which all records use.
inline int64_t TraceNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One command on one thread. In map sections it is one microbatch of one lane, or of neighbouring lanes together. In
// global sections, all pieces of the command that the thread ran are one record.
struct CommandRecord {
  int32_t id = 0;      // index in ListCommands (command_info.h)
  int32_t device = 0;  // index of the device; for a global command, the device of its first piece
  int32_t lane = -1;   // index of the lane on its device, or of the first of several lanes; -1 in global sections
  int32_t rows = 0;    // rows of the microbatches; 0 in global sections
  int64_t begin = 0;   // times of TraceNow()
  int64_t end = 0;
};

// One list per thread of the pool; thread 0 is the one that calls Session::Run. Each list is written by its own thread
// alone, and read between runs.
struct CommandTrace {
  std::vector<std::vector<CommandRecord>> threads;
  // Records of the thread that exchanges values with other processes while commands run.
  std::vector<CommandRecord> communication;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_COMMAND_TRACE_H_
