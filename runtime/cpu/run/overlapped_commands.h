// OverlappedCommands: the all-reduces of a global section that have begun and not ended while the commands behind them
// run.
#ifndef TANDEM_RUNTIME_CPU_RUN_OVERLAPPED_COMMANDS_H_
#define TANDEM_RUNTIME_CPU_RUN_OVERLAPPED_COMMANDS_H_

#include <cstddef>
#include <deque>

#include "absl/status/status.h"
#include "runtime/cpu/commands/cpu_command.h"
#include "runtime/cpu/run/communication_thread.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Must be used from one thread. The constructor's arguments must outlive the object. If `thread` is null, no command
// overlaps with others.
class OverlappedCommands {
 public:
  OverlappedCommands(const StepState& state, CommunicationThread* thread, ThreadPool& pool)
      : state_(state), thread_(thread), pool_(pool) {}
  // Waits until the thread has ended all calls that have begun.
  ~OverlappedCommands();

  // True if `command` may continue while the commands behind it run.
  bool Takes(const CpuCommand& command) const { return thread_ != nullptr && command.table().overlap > 0; }
  // Begins command `index` of the section, for which Takes is true. Its operands must have been written.
  absl::Status Begin(const CpuCommand& command, size_t index);
  // Ends, in order, the commands that must have ended before command `index` of the section begins.
  absl::Status EndBefore(size_t index);
  absl::Status EndAll() { return EndBefore(SIZE_MAX); }

 private:
  struct Underway {
    Underway(const StepState& state, const CpuCommand& command, size_t next)
        : command(command), run(state, command.work, command.id), next(next) {}

    const CpuCommand& command;
    GlobalRun run;
    size_t next;  // index in the section of the first command that must wait for this one
  };

  const StepState& state_;
  CommunicationThread* const thread_;
  ThreadPool& pool_;
  std::deque<Underway> underway_;
  // number of calls of the thread that have not been waited for; after an exception underway_ may have more commands
  size_t calls_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_OVERLAPPED_COMMANDS_H_
