// Stops cleanly on SIGINT, SIGTERM and SIGHUP.
#ifndef TANDEM_ESTIMATOR_LOOP_SIGNALS_H_
#define TANDEM_ESTIMATOR_LOOP_SIGNALS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// While at least one guard exists, the first SIGINT, SIGTERM or SIGHUP is only remembered; a second one acts as if
// there were no guard (usually it ends the process). A SIGHUP that is ignored (nohup) stays ignored. Writing to a pipe
// that nobody reads fails instead of ending the process (SIGPIPE): losing log lines is no reason to end a training.
// Guards nest and may exist in several threads.
class SignalGuard {
 public:
  // A guard that is not `enabled` does nothing.
  explicit SignalGuard(bool enabled);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // True if a signal has come that is forgotten when this guard ends, because this is the outermost guard.
  bool ForgetsSignal() const { return outermost_ && pending() != 0; }
  // Returns the signal that came since the outermost guard was made; 0 if none did.
  static int pending();

 private:
  const bool enabled_;
  bool outermost_ = false;
};

// Returns Cancelled: "stopped by SIGINT" + `detail`, with exit code 129 (SIGHUP), 130 (SIGINT) or 143 (SIGTERM).
absl::Status SignalError(int signal_number, absl::string_view detail);
// Returns Cancelled: "stopped with another worker, which got a signal" + `detail`, with exit code 75.
absl::Status PeerSignalError(absl::string_view detail);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_SIGNALS_H_
