// Libraries that call exit() when they have no memory.
#ifndef TANDEM_BASE_LIBRARY_EXIT_H_
#define TANDEM_BASE_LIBRARY_EXIT_H_

namespace tandem {

// While it lives, a call of exit() by this thread means that a library gave up for want of memory, as OpenMP's does,
// which would end the process with 1: the exit code becomes 74, behind a line that says what it was `doing`. Scopes
// nest.
class ExitMeansOutOfMemory {
 public:
  // `doing` must outlive the scope.
  explicit ExitMeansOutOfMemory(const char* doing);
  ~ExitMeansOutOfMemory();
  ExitMeansOutOfMemory(const ExitMeansOutOfMemory&) = delete;
  ExitMeansOutOfMemory& operator=(const ExitMeansOutOfMemory&) = delete;

 private:
  const char* const outer_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_LIBRARY_EXIT_H_
