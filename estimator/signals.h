// A clean stop on SIGINT, SIGTERM and SIGHUP.
#ifndef TANDEM_ESTIMATOR_SIGNALS_H_
#define TANDEM_ESTIMATOR_SIGNALS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// While at least one guard lives, the first SIGINT, SIGTERM or SIGHUP is only remembered; a second one has the effect
// that it had before (it ends the process, as a rule). A SIGHUP that is ignored (nohup) stays so. A write to a pipe
// that nobody reads any more fails instead of ending the process (SIGPIPE): log lines are not worth a training. Guards
// nest and may live in several threads.
class SignalGuard {
 public:
  // Does nothing unless `enabled`.
  explicit SignalGuard(bool enabled);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // Whether a signal has come that is forgotten with this guard, because no other was there when it was made.
  bool ForgetsSignal() const { return outermost_ && pending() != 0; }
  // The signal that came since the outermost guard was made; 0 when none did.
  static int pending();

 private:
  const bool enabled_;
  bool outermost_ = false;
};

// Cancelled: "stopped by SIGINT" + `detail`, with exit code 129 (SIGHUP), 130 (SIGINT) or 143 (SIGTERM).
absl::Status SignalError(int signal_number, absl::string_view detail);
// Cancelled: "stopped with another worker, which got a signal" + `detail`, with exit code 75.
absl::Status PeerSignalError(absl::string_view detail);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SIGNALS_H_
