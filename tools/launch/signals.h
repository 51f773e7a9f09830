// Receives the launcher's signals through a file descriptor that poll can wait for.
#ifndef TANDEM_TOOLS_LAUNCH_SIGNALS_H_
#define TANDEM_TOOLS_LAUNCH_SIGNALS_H_

#include <signal.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tandem {

// Returns "SIGTERM", or "signal 40" for a signal without a name.
std::string SignalName(int number);

// During the lifetime of this object, SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and, unless it is ignored (nohup),
// SIGHUP have no effect but to be recorded. The process may have only one thread.
class Signals {
 public:
  Signals() = default;
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  absl::Status Init();
  int fd() const { return fd_; }
  // The signal mask before Init, with which children should be started.
  const sigset_t& mask_before() const { return before_; }
  // Returns the numbers of the signals that were received since the last call.
  std::vector<int> Take();

 private:
  int fd_ = -1;
  sigset_t before_ = {};
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_SIGNALS_H_
