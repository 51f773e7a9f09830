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

struct sigaction segv_before_llvm, abort_before_llvm;

// MLIR does not check the result of malloc before it writes to the memory, for example when it loads a dialect. An
// access near address 0, or an abort, inside a scope counts as lack of memory if the last failure was an allocation.
void OnCrashInLlvm(int signal, siginfo_t* info, void* context) {
  const char* doing = ExitWhenOutOfMemory::Current();
  if (doing != nullptr && errno == ENOMEM &&
      (signal == SIGABRT || reinterpret_cast<uintptr_t>(info->si_addr) < (1 << 16))) {
    ExitOutOfMemory(doing);
  }
  const struct sigaction& before = signal == SIGABRT ? abort_before_llvm : segv_before_llvm;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // After the return, the access or the abort is repeated and ends the process as it would have without this handler.
  sigaction(signal, &before, nullptr);
}

}  // namespace

LlvmMemoryScope::LlvmMemoryScope(const char* doing) : scope_(doing) {
  [[maybe_unused]] static const bool installed = [] {
    llvm::remove_bad_alloc_error_handler();  // LLVM accepts only one handler
    llvm::install_bad_alloc_error_handler(OutOfMemory);
    struct sigaction action = {};
    action.sa_sigaction = OnCrashInLlvm;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &segv_before_llvm) == 0 && sigaction(SIGABRT, &action, &abort_before_llvm) == 0;
  }();
}

}  // namespace tandem
