// Describes how the processes of a group ended, and finds the one that caused a failure.
#ifndef TANDEM_TOOLS_LAUNCH_OUTCOME_H_
#define TANDEM_TOOLS_LAUNCH_OUTCOME_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "cluster/cluster.h"

namespace tandem {

// The launcher waits this long after the first failure, because that failure may be the consequence of another one: a
// process that has lost its peer may end before the peer does.
inline constexpr double kSettleSeconds = 1;

struct TaskEnd {
  Task task;
  pid_t pid = -1;
  int code = 0;
  int signal = 0;        // the signal that killed the task; 0 if none did
  double seconds = 0;    // time of the task's end; all tasks use one clock
  bool stopped = false;  // true if the launcher had asked the task to end
};

// Returns the exit code as a shell reports it: 128 + the signal for a killed process.
int ExitCodeOf(const TaskEnd& end);

// True if the task ended with an error, without being asked to end.
bool Failed(const TaskEnd& end);

// Returns the index in `ends` of the task that failed first, or nullopt if none failed. A task with exit code 75 only
// reports the loss of another one. If such a task failed first, the cause is the first task that failed in another way
// within kSettleSeconds.
std::optional<size_t> FindCause(absl::Span<const TaskEnd> ends);

// True if the group may succeed when it is restarted: for exit codes 75 and 1, signals, and the exit codes that shells
// make of signals. False for wrong usage (2), bad data (65, 66), compile errors (70), output that cannot be written
// (74), and exit codes that Tandem's programs do not have.
bool IsTemporary(const TaskEnd& cause);

// Returns text such as "worker 2 (pid 123) was killed by signal 9 (SIGKILL); worker 0, 1, 3 exited with code 75 because
// of it; ps 0 was stopped". Leaves out tasks that ended with 0 by themselves.
std::string Summary(absl::Span<const TaskEnd> ends, size_t cause);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OUTCOME_H_
