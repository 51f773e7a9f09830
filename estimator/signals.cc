#include "estimator/signals.h"

#include <csignal>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

namespace tandem {
namespace {

volatile std::sig_atomic_t g_pending = 0;
struct sigaction g_old_int, g_old_term;
std::mutex g_mutex;
int g_guards = 0;

extern "C" void RememberSignal(int signal_number) {
  g_pending = signal_number;
  // The next one of either kind shall end a process that does not come to the end of its step.
  sigaction(SIGINT, &g_old_int, nullptr);
  sigaction(SIGTERM, &g_old_term, nullptr);
}

}  // namespace

SignalGuard::SignalGuard(bool enabled) : enabled_(enabled) {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_guards++ > 0) return;
  g_pending = 0;
  struct sigaction action = {};
  action.sa_handler = RememberSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // reads and writes of a step in progress shall not see it
  // The old actions must be known before a handler can run that puts them back.
  sigaction(SIGINT, nullptr, &g_old_int);
  sigaction(SIGTERM, nullptr, &g_old_term);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

SignalGuard::~SignalGuard() {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(g_mutex);
  if (--g_guards > 0) return;
  sigaction(SIGINT, &g_old_int, nullptr);
  sigaction(SIGTERM, &g_old_term, nullptr);
}

int SignalGuard::pending() { return g_pending; }

absl::Status SignalError(int signal_number, absl::string_view detail) {
  const bool interrupt = signal_number == SIGINT;
  return WithExitCode(absl::CancelledError(absl::StrCat("stopped by ", interrupt ? "SIGINT" : "SIGTERM", detail)),
                      interrupt ? kExitInterrupted : kExitTerminated);
}

}  // namespace tandem
