// How the processes of a group ended, and which of them is to blame.
#ifndef TANDEM_TOOLS_LAUNCH_OUTCOME_H_
#define TANDEM_TOOLS_LAUNCH_OUTCOME_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "cluster/cluster.h"

namespace tandem {

// How long the first failure may be a consequence of another one that is yet to show: a process that lost its peer may
// end before the peer has.
inline constexpr double kSettleSeconds = 1;

struct TaskEnd {
  Task task;
  pid_t pid = -1;
  int code = 0;
  int signal = 0;        // that killed it
  double seconds = 0;    // when, by a clock that all have
  bool stopped = false;  // the launcher had asked it to end before
};

// The exit code, as a shell says it: 128 + the signal.
int ExitCodeOf(const TaskEnd& end);

// Whether it ended by itself, and not well.
bool Failed(const TaskEnd& end);

// The place in `ends` of the first failure. Exit code 75 says that another process was lost: then the first that failed
// within kSettleSeconds in another way is the cause. Nothing when none failed.
std::optional<size_t> FindCause(absl::Span<const TaskEnd> ends);

// Whether a group that failed by this may do better when it is started again: 75, 1, signals and exit codes that shells
// make of signals. Not usage (2), bad data (65, 66), compile errors (70), output that cannot be written (74), and codes
// that programs of Tandem do not have.
bool IsTemporary(const TaskEnd& cause);

// "worker 2 (pid 123) was killed by signal 9 (SIGKILL); worker 0, 1, 3 exited with code 75 because of it; ps 0 was
// stopped". Those that ended with 0 by themselves are left out.
std::string Summary(absl::Span<const TaskEnd> ends, size_t cause);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OUTCOME_H_
