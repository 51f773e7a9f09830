// Launch: starts, watches and restarts the processes of a job, for the program tandem-launch.
#ifndef TANDEM_TOOLS_LAUNCH_LAUNCH_H_
#define TANDEM_TOOLS_LAUNCH_LAUNCH_H_

#include "absl/status/status.h"
#include "tools/launch/options.h"

namespace tandem {

// Starts the processes and returns when the last has ended. Call it only once, while the process has one thread.
// Errors, by their exit code:
//   2                  invalid options
//   126, 127           a program that cannot be started, or does not exist
//   129, 130, 143      stopped by SIGHUP, SIGINT, SIGTERM
//   74                 standard output cannot be written any more; no memory, process or descriptor is left
//   a task's, 128 + N  the exit code of the first task that failed; 128 + N if signal N killed it
absl::Status Launch(const LaunchOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LAUNCH_H_
