// Real processes for tests and benchmarks of process groups.
#ifndef TANDEM_RUNTIME_COLLECTIVES_TESTING_PROCESSES_H_
#define TANDEM_RUNTIME_COLLECTIVES_TESTING_PROCESSES_H_

#include <sys/types.h>

#include <functional>
#include <vector>

namespace tandem {

// Forks one process for each rank, which ends with the exit code that `body` returns; one that outlives this process,
// or runs longer than `most_seconds`, is killed. Create it while this process has one thread.
class Processes {
 public:
  Processes(int count, std::function<int(int rank)> body, unsigned most_seconds = 120);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void Signal(int rank, int signal);
  // Waits for a rank's process; returns its exit code, or minus the signal that ended it.
  int Wait(int rank);
  // Waits for all; returns the first result that is not 0.
  int WaitAll();

 private:
  std::vector<pid_t> processes_;  // 0: was waited for
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_TESTING_PROCESSES_H_
