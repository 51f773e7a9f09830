// What the threads of a session did and when: one record per execution of a program's command.
#ifndef TANDEM_RUNTIME_COMMAND_TRACE_H_
#define TANDEM_RUNTIME_COMMAND_TRACE_H_

#include <chrono>
#include <cstdint>
#include <vector>

namespace tandem {

// Nanoseconds of the steady clock, the clock of all records.
inline int64_t TraceNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One command on one thread. In map sections: one microbatch of one lane, or of neighbouring lanes together. In global
// sections: the pieces of the command that the thread took, as one record.
struct CommandRecord {
  int32_t id = 0;      // of ListCommands (command_info.h)
  int32_t device = 0;  // its index; of a global command: of the first piece
  int32_t lane = -1;   // of the device, the first of several; -1 in global sections
  int32_t rows = 0;    // of the microbatches; 0 in global sections
  int64_t begin = 0;   // TraceNow()
  int64_t end = 0;
};

// By thread of the pool; thread 0 is the one that calls Session::Run. Each is written by its own thread alone, and read
// between runs.
struct CommandTrace {
  std::vector<std::vector<CommandRecord>> threads;
  // Of the thread that talks to other processes beside the commands that run.
  std::vector<CommandRecord> communication;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMAND_TRACE_H_
