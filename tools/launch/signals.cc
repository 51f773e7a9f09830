#include "tools/launch/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/posix_error.h"

namespace tandem {

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? absl::StrCat("SIG", name) : absl::StrCat("signal ", number);
}

Signals::~Signals() {
  if (fd_ < 0) return;
  close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

absl::Status Signals::Init() {
  sigset_t noted;
  sigemptyset(&noted);
  for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&noted, number);
  struct sigaction hangup;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&noted, SIGHUP);
  // If the parent ignores SIGCHLD, this process would inherit that, and the system would not report how children end.
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &noted, &before_);
  fd_ = signalfd(-1, &noted, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd_ >= 0 ? absl::OkStatus() : PosixError(errno, "open", "a file of signals");
}

std::vector<int> Signals::Take() {
  std::vector<int> numbers;
  signalfd_siginfo info;
  while (RetryInterrupted([&] { return read(fd_, &info, sizeof(info)); }) == sizeof(info)) {
    numbers.push_back(static_cast<int>(info.ssi_signo));
  }
  return numbers;
}

}  // namespace tandem
