// Memory and threads that the system does not give: everything ends in a Status, or in exit code 74.
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

// A std::bad_alloc that says what was asked for. Making and copying one takes no memory.
class AllocationError : public std::bad_alloc {
 public:
  // "cannot allocate 4096 bytes for `purpose`".
  AllocationError(uint64_t bytes, absl::string_view purpose) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[240];
};

// Inside a catch block: the exception as a Status that begins with `doing`. ResourceExhausted where memory or threads
// ran out, Internal otherwise.
absl::Status StatusOfException(absl::string_view doing);

// f(), which returns a Status or StatusOr; what it throws becomes one.
template <typename F>
std::invoke_result_t<F> CatchResourceErrors(absl::string_view doing, F&& f) {
  try {
    return f();
  } catch (...) {
    return StatusOfException(doing);
  }
}

// From now on an exception of memory or threads that nothing catches, or that leaves a function that must not throw,
// ends the process as ExitOutOfMemory does. So does an abort() of a library that got no memory (Abseil's, gRPC's), or
// its access to address 0. Other calls of std::terminate and abort, and other accesses, do what they did before.
void ExitOnUncaughtResourceErrors();

// The body of a main function, with ExitOnUncaughtResourceErrors: what it throws is printed behind the program's name
// and becomes the exit code.
int RunMain(absl::string_view program, absl::FunctionRef<int()> body);

// Ends the process with exit code 74 and one line that says what it was `doing`. Takes no memory. Nothing that is saved
// can be damaged: files get their names when they are complete.
[[noreturn]] void ExitOutOfMemory(const char* doing, const char* detail = nullptr);

// While it lives, an allocation of this thread that fails ends the process as ExitOutOfMemory does. For calls of
// libraries that an exception would leave in no state to go on or even to be destroyed (LLVM and MLIR). Scopes nest.
class ExitWhenOutOfMemory {
 public:
  // `doing` must outlive the scope.
  explicit ExitWhenOutOfMemory(const char* doing);
  ~ExitWhenOutOfMemory();
  ExitWhenOutOfMemory(const ExitWhenOutOfMemory&) = delete;
  ExitWhenOutOfMemory& operator=(const ExitWhenOutOfMemory&) = delete;

  // What the innermost scope of this thread does; null outside of all.
  static const char* Current();

 private:
  const char* const outer_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_RESOURCE_ERRORS_H_
