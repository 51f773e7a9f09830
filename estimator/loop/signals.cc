#include "estimator/loop/signals.h"

#include <csignal>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

namespace tandem {
namespace {

// The signals that ask a process to stop.
constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGTERM};
constexpr int kNumStopSignals = 3;

volatile std::sig_atomic_t g_pending = 0;
struct sigaction g_old[kNumStopSignals];
struct sigaction g_old_pipe;
std::mutex g_mutex;
int g_guards = 0;

// True for SIGHUP if it was ignored before the guard, as under nohup. Then it stays ignored.
bool IsIgnoredHangup(int i) { return kStopSignals[i] == SIGHUP && g_old[i].sa_handler == SIG_IGN; }

void PutBackStopSignals() {
  for (int i = 0; i < kNumStopSignals; ++i) sigaction(kStopSignals[i], &g_old[i], nullptr);
}

extern "C" void RememberSignal(int signal_number) {
  g_pending = signal_number;
  // The next stop signal acts as it did before the guard and usually ends the process, in case the current step never
  // finishes.
  PutBackStopSignals();
}

}  // namespace

SignalGuard::SignalGuard(bool enabled) : enabled_(enabled) {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_guards++ > 0) return;
  outermost_ = true;
  g_pending = 0;
  struct sigaction action = {};
  action.sa_handler = RememberSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // reads and writes of the current step are not interrupted
  // RememberSignal restores the old actions, so they must be saved before it can run.
  for (int i = 0; i < kNumStopSignals; ++i) sigaction(kStopSignals[i], nullptr, &g_old[i]);
  for (int i = 0; i < kNumStopSignals; ++i) {
    if (!IsIgnoredHangup(i)) sigaction(kStopSignals[i], &action, nullptr);
  }
  sigaction(SIGPIPE, nullptr, &g_old_pipe);
  if (g_old_pipe.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

SignalGuard::~SignalGuard() {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(g_mutex);
  if (--g_guards > 0) return;
  PutBackStopSignals();
  sigaction(SIGPIPE, &g_old_pipe, nullptr);
}

int SignalGuard::pending() { return g_pending; }

absl::Status SignalError(int signal_number, absl::string_view detail) {
  const char* name = signal_number == SIGINT ? "SIGINT" : signal_number == SIGHUP ? "SIGHUP" : "SIGTERM";
  const int code = signal_number == SIGINT ? kExitInterrupted : signal_number == SIGHUP ? kExitHangup : kExitTerminated;
  return WithExitCode(absl::CancelledError(absl::StrCat("stopped by ", name, detail)), code);
}

absl::Status PeerSignalError(absl::string_view detail) {
  return WithExitCode(absl::CancelledError(absl::StrCat("stopped with another worker, which got a signal", detail)),
                      kExitTemporary);
}

}  // namespace tandem
