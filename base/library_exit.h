// Handles libraries that call exit() when memory runs out, in processes that RunMain runs.
#ifndef TANDEM_BASE_LIBRARY_EXIT_H_
#define TANDEM_BASE_LIBRARY_EXIT_H_

namespace tandem {

// During its lifetime, a call of exit() by this thread is taken to mean that a library, such as OpenMP's, could not
// allocate memory; the library would end the process with code 1. Instead the exit code becomes 74, after a line that
// says what the thread was `doing`. Scopes nest. In a process that only uses Tandem (base/owned_process.h) a scope does
// nothing.
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
