// Finds and starts the programs of the processes that tandem-launch watches.
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

// Returns the file that a shell would run for `program`, which is a path or a name in one of the folders of `path`
// ("a:b"). As in a shell, the exit code is 127 if it is not found, and 126 if it is no file or may not be executed.
absl::StatusOr<std::string> FindProgram(absl::string_view program, absl::string_view path);

struct Child {
  pid_t pid = -1;  // process id, which is also the id of its process group
  // Pipes for reading the child's standard output and standard error. They are non-blocking. The owner of the Child
  // closes them.
  int output = -1, error = -1;
};

// Raises this process's limit of open files as far as the system allows. Children get the original limit.
void RaiseFileLimit();

// Starts `program` with the arguments command[1], ..., in its own process group, with empty standard input, default
// signal handling (only SIGHUP stays ignored if it is, for nohup) and `signal_mask`. If this process dies, the child
// gets SIGTERM. Not for processes with several threads. Errors: exit code 126 if the system cannot execute the file, 74
// if no memory, process or descriptor is left.
absl::StatusOr<Child> StartChild(const std::string& program, const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& environment, const sigset_t& signal_mask);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_CHILD_H_
