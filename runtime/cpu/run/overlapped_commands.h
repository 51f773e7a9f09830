// OverlappedCommands: the all-reduces of a global section that are under way while the commands behind them run.
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

// Must be used from one thread. The constructor's arguments must outlive it. `thread` may be null: then it takes no
// command.
class OverlappedCommands {
 public:
  OverlappedCommands(const StepState& state, CommunicationThread* thread, ThreadPool& pool)
      : state_(state), thread_(thread), pool_(pool) {}
  // Waits for all calls.
  ~OverlappedCommands();

  // True if `command` may go on while those behind it run.
  bool Takes(const CpuCommand& command) const { return thread_ != nullptr && command.table().overlap > 0; }
  // Begins command `index` of the section, for which Takes is true. Other commands must have written its operands.
  absl::Status Begin(const CpuCommand& command, size_t index);
  // Ends the commands that command `index` of the section must find done, in their order.
  absl::Status EndBefore(size_t index);
  absl::Status EndAll() { return EndBefore(SIZE_MAX); }

 private:
  struct Underway {
    Underway(const StepState& state, const CpuCommand& command, size_t next)
        : command(command), run(state, command.work, command.id), next(next) {}

    const CpuCommand& command;
    GlobalRun run;
    size_t next;  // the first command that waits for it
  };

  const StepState& state_;
  CommunicationThread* const thread_;
  ThreadPool& pool_;
  std::deque<Underway> underway_;
  size_t calls_ = 0;  // calls of the thread that have not been waited for; an exception may leave more in underway_
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_OVERLAPPED_COMMANDS_H_
