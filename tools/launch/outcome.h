// How the processes of a group ended, and which of them caused a failure.
#ifndef TANDEM_TOOLS_LAUNCH_OUTCOME_H_
#define TANDEM_TOOLS_LAUNCH_OUTCOME_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "cluster/cluster.h"

namespace tandem {

// The time during which the first failure may turn out to be the consequence of another one: a process that lost its
// peer may end before the peer does.
inline constexpr double kSettleSeconds = 1;

struct TaskEnd {
  Task task;
  pid_t pid = -1;
  int code = 0;
  int signal = 0;        // the signal that killed it
  double seconds = 0;    // time of its end, by a clock common to all
  bool stopped = false;  // the launcher had asked it to end
};

// Returns the exit code as a shell reports it: 128 + the signal for a killed process.
int ExitCodeOf(const TaskEnd& end);

// True if it ended by itself with an error.
bool Failed(const TaskEnd& end);

// Returns the index in `ends` of the first failure. But exit code 75 means that another process was lost: then the
// first task that failed in another way within kSettleSeconds is the cause. nullopt if none failed.
std::optional<size_t> FindCause(absl::Span<const TaskEnd> ends);

// True if a group with this failure may succeed when it is restarted: codes 75 and 1, signals, and exit codes that
// shells make of signals. False for usage (2), bad data (65, 66), compile errors (70), output that cannot be written
// (74), and codes that programs of Tandem do not have.
bool IsTemporary(const TaskEnd& cause);

// Returns text such as "worker 2 (pid 123) was killed by signal 9 (SIGKILL); worker 0, 1, 3 exited with code 75 because
// of it; ps 0 was stopped". Leaves out tasks that ended with 0 by themselves.
std::string Summary(absl::Span<const TaskEnd> ends, size_t cause);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OUTCOME_H_
