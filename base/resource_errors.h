// Handles a lack of memory or threads: it ends in a Status, and in processes that RunMain runs else in exit code 74.
//
//   absl::Status Estimator::Train(...) { return CatchResourceErrors("training", [&] { return impl_->Train(...); }); }
#ifndef TANDEM_BASE_RESOURCE_ERRORS_H_
#define TANDEM_BASE_RESOURCE_ERRORS_H_

#include <cstdint>
#include <new>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// A std::bad_alloc with a text about the failed allocation. Making and copying one takes no memory.
class AllocationError : public std::bad_alloc {
 public:
  // Makes the text "cannot allocate 4096 bytes for `purpose`".
  AllocationError(uint64_t bytes, absl::string_view purpose) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[240];
};

// To be called inside a catch block: returns the exception as a Status that begins with `doing`. ResourceExhausted if
// memory or threads ran out, Internal otherwise.
absl::Status StatusOfException(absl::string_view doing);

// Returns f(), which must be a Status or a StatusOr. If f throws, returns StatusOfException(doing) instead.
template <typename F>
std::invoke_result_t<F> CatchResourceErrors(absl::string_view doing, F&& f) {
  try {
    return f();
  } catch (...) {
    return StatusOfException(doing);
  }
}

// Runs `body`, the body of a main function. An exception is printed after the program's name and becomes the exit code.
//
// The process is Tandem's from then on (base/owned_process.h): an uncaught exception for lack of memory or threads,
// also one that leaves a noexcept function, ends it as ExitOutOfMemory does. So does an abort() of a library that got
// no memory (Abseil's, gRPC's), or its access to address 0. Other calls of std::terminate and abort, and other invalid
// accesses, do the same as before.
int RunMain(absl::string_view program, absl::FunctionRef<int()> body);

// Ends the process with exit code 74 and one line that says what it was `doing`. Takes no memory. Saved files cannot be
// damaged, because they get their names when they are complete.
[[noreturn]] void ExitOutOfMemory(const char* doing, const char* detail = nullptr);

// During its lifetime, in a process that RunMain runs, a failed allocation of this thread ends the process as
// ExitOutOfMemory does. For calls of libraries that an exception would leave in a state in which they cannot continue
// or even be destroyed (LLVM and MLIR). In other processes it is an exception, as outside of scopes. Scopes nest.
class ExitWhenOutOfMemory {
 public:
  // `doing` must outlive the scope.
  explicit ExitWhenOutOfMemory(const char* doing);
  ~ExitWhenOutOfMemory();
  ExitWhenOutOfMemory(const ExitWhenOutOfMemory&) = delete;
  ExitWhenOutOfMemory& operator=(const ExitWhenOutOfMemory&) = delete;

  // Returns the text `doing` of this thread's innermost scope; null outside of all scopes.
  static const char* Current();

 private:
  const char* const outer_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_RESOURCE_ERRORS_H_
