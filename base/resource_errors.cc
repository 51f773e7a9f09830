#include "base/resource_errors.h"

#include <cxxabi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/out_of_memory.h"
#include "base/owned_process.h"

namespace tandem {
namespace {

// The program's name, for lines that are written when there is no memory.
char program_name[64] = "tandem";

thread_local const char* exits_when_out_of_memory = nullptr;

bool IsResourceError(const std::error_code& code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory;
}

// Stores the text of the caught exception in `text`. Returns true if memory or threads ran out.
bool Describe(char* text, size_t size) {
  try {
    throw;
  } catch (const AllocationError& e) {
    std::snprintf(text, size, "%s", e.what());
    return true;
  } catch (const std::bad_alloc&) {
    std::snprintf(text, size, "out of memory");
    return true;
  } catch (const std::length_error& e) {
    std::snprintf(text, size, "out of memory: more was asked for than any machine has (%s)", e.what());
    return true;
  } catch (const std::system_error& e) {
    std::snprintf(text, size, "%s", e.what());
    return IsResourceError(e.code());
  } catch (const std::exception& e) {
    std::snprintf(text, size, "unexpected exception: %s", e.what());
    return false;
  } catch (const abi::__forced_unwind&) {
    throw;  // a cancelled thread must continue to unwind
  } catch (...) {
    std::snprintf(text, size, "unexpected exception");
    return false;
  }
}

void WriteLine(const char* doing, const char* detail) {
  char line[512];
  int n = std::snprintf(line, sizeof(line), "%s: %s%s%s\n", program_name, doing != nullptr ? doing : "",
                        doing != nullptr ? ": " : "", detail != nullptr ? detail : "out of memory");
  n = std::min<int>(n, sizeof(line) - 1);
  if (write(STDERR_FILENO, line, n) < 0) {
    // There is no other place to report the message, so it is lost.
  }
}

void FailedNew() {
  if (exits_when_out_of_memory != nullptr) ExitOutOfMemory(exits_when_out_of_memory);
  throw std::bad_alloc();
}

// Called for an exception that must not leave its function, such as a destructor or another noexcept function.
// libstdc++ does not always tell which exception it is. In that case, memory is taken to have run out if the thread's
// last failure was an allocation.
std::terminate_handler terminate_before = nullptr;
void Terminate() {
  char text[256];
  if (std::current_exception() != nullptr && Describe(text, sizeof(text))) ExitOutOfMemory(nullptr, text);
  if (std::uncaught_exceptions() > 0 && errno == ENOMEM) ExitOutOfMemory(nullptr);
  errno = 0;  // Without this, OnFatalSignal could take the abort below for a lack of memory.
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

// A library that cannot allocate memory aborts, or accesses address 0, at once. So errno is still ENOMEM when the
// signal arrives.
struct sigaction abort_before = {}, segv_before = {};
void OnFatalSignal(int signal, siginfo_t* info, void* context) {
  constexpr uintptr_t kNearZero = 1 << 16;
  if (errno == ENOMEM && (signal == SIGABRT || reinterpret_cast<uintptr_t>(info->si_addr) < kNearZero)) {
    ExitOutOfMemory(exits_when_out_of_memory);
  }
  const struct sigaction& before = signal == SIGABRT ? abort_before : segv_before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // After the return, the access or the abort is repeated and ends the process as it would have without this handler.
  sigaction(signal, &before, nullptr);
}

void HandleUncaughtResourceErrors() {
  [[maybe_unused]] static const bool installed = [] {
    std::set_new_handler(FailedNew);
    terminate_before = std::set_terminate(Terminate);
    struct sigaction action = {};
    action.sa_sigaction = OnFatalSignal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGABRT, &action, &abort_before) == 0 && sigaction(SIGSEGV, &action, &segv_before) == 0;
  }();
}

}  // namespace

AllocationError::AllocationError(uint64_t bytes, absl::string_view purpose) noexcept {
  std::snprintf(text_, sizeof(text_), "cannot allocate %llu bytes for %.*s", static_cast<unsigned long long>(bytes),
                static_cast<int>(std::min<size_t>(purpose.size(), 180)), purpose.data());
}

absl::Status StatusOfException(absl::string_view doing) {
  char text[256];
  const bool resources = Describe(text, sizeof(text));
  const std::string message = absl::StrCat(doing, doing.empty() ? "" : ": ", text);
  return resources ? OutOfMemoryError(message) : absl::InternalError(message);
}

int RunMain(absl::string_view program, absl::FunctionRef<int()> body) {
  std::snprintf(program_name, sizeof(program_name), "%.*s", static_cast<int>(program.size()), program.data());
  OwnProcess();
  HandleUncaughtResourceErrors();
  try {
    return body();
  } catch (...) {
    char text[256];
    const bool resources = Describe(text, sizeof(text));
    WriteLine(nullptr, text);
    return resources ? kExitIo : kExitInternal;
  }
}

void ExitOutOfMemory(const char* doing, const char* detail) {
  WriteLine(doing, detail);
  _exit(kExitIo);
}

ExitWhenOutOfMemory::ExitWhenOutOfMemory(const char* doing) : outer_(exits_when_out_of_memory) {
  exits_when_out_of_memory = doing;
}

ExitWhenOutOfMemory::~ExitWhenOutOfMemory() { exits_when_out_of_memory = outer_; }

const char* ExitWhenOutOfMemory::Current() { return exits_when_out_of_memory; }

}  // namespace tandem
