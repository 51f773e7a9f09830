#include "runtime/collectives/testing/processes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tandem {

Processes::Processes(int count, std::function<int(int rank)> body, unsigned most_seconds) {
  std::fflush(nullptr);
  for (int rank = 0; rank < count; ++rank) {
    const pid_t process = fork();
    if (process < 0) std::perror("fork"), std::abort();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(most_seconds);
      // End as a program does: at exit a worker says farewell to the others.
      std::exit(body(rank));
    }
    processes_.push_back(process);
  }
}

Processes::~Processes() {
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
    Signal(rank, SIGKILL);
    Wait(rank);
  }
}

void Processes::Signal(int rank, int signal) {
  if (processes_[rank] != 0) kill(processes_[rank], signal);
}

int Processes::Wait(int rank) {
  int status = 0;
  const pid_t process = std::exchange(processes_[rank], 0);
  if (process == 0 || waitpid(process, &status, 0) != process) return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int Processes::WaitAll() {
  int first = 0;
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
    const int code = Wait(rank);
    if (first == 0) first = code;
  }
  return first;
}

}  // namespace tandem
