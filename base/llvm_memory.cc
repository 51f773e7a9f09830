#include "base/llvm_memory.h"

#include <signal.h>

#include <cerrno>
#include <cstdint>

#include "llvm/Support/ErrorHandling.h"

namespace tandem {
namespace {

void OutOfMemory(void*, const char*, bool) {
  const char* doing = ExitWhenOutOfMemory::Current();
  ExitOutOfMemory(doing != nullptr ? doing : "LLVM");
}

struct sigaction handler_before;

// MLIR writes to what malloc returns without a look: when it loads a dialect, for one. An access near address 0 in a
// scope, when the last thing that failed was an allocation, is that.
void OnBadAccess(int signal, siginfo_t* info, void* context) {
  const char* doing = ExitWhenOutOfMemory::Current();
  if (doing != nullptr && errno == ENOMEM && reinterpret_cast<uintptr_t>(info->si_addr) < (1 << 16)) {
    ExitOutOfMemory(doing);
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    return handler_before.sa_handler(signal);
  }
  sigaction(signal, &handler_before, nullptr);  // the access is repeated, and ends the process as it should
}

}  // namespace

LlvmMemoryScope::LlvmMemoryScope(const char* doing) : scope_(doing) {
  [[maybe_unused]] static const bool installed = [] {
    llvm::remove_bad_alloc_error_handler();  // LLVM takes one only
    llvm::install_bad_alloc_error_handler(OutOfMemory);
    struct sigaction action = {};
    action.sa_sigaction = OnBadAccess;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &handler_before) == 0;
  }();
}

}  // namespace tandem
