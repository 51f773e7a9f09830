// A process that tandem-launch starts.
#ifndef TANDEM_TOOLS_LAUNCH_CHILD_H_
#define TANDEM_TOOLS_LAUNCH_CHILD_H_

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The file that a shell would run for `program`, which is a path or a name in one of the folders of `path` ("a:b"). As
// in a shell the exit code is 127 when it is not found, and 126 when it is no file or may not be executed.
absl::StatusOr<std::string> FindProgram(absl::string_view program, absl::string_view path);

struct Child {
  pid_t pid = -1;  // also the number of its process group
  // What it prints; do not block, and are closed by whoever has the Child.
  int output = -1, error = -1;
};

// Lets this process have as many files open as the system allows it. Children get the limit that it had before.
void RaiseFileLimit();

// Starts `program` with the arguments command[1], ..., in a process group of its own, with nothing on standard input,
// the signals in their usual state (only SIGHUP stays ignored where it is, as nohup wants) and `signal_mask`. When this
// process dies the child gets SIGTERM. Not for processes with several threads. Errors: 126 when the system does not
// take the file for a program, 74 when there is no memory, process or descriptor left.
absl::StatusOr<Child> StartChild(const std::string& program, const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& environment, const sigset_t& signal_mask);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_CHILD_H_
