#include "base/llvm_memory.h"

#include <sys/mman.h>

#include <mutex>
#include <new>

#include "absl/strings/str_cat.h"
#include "base/out_of_memory.h"
#include "base/owned_process.h"
#include "llvm/Support/ErrorHandling.h"

namespace tandem {
namespace {

constexpr size_t kNeededBytes = size_t{128} << 20;

void OutOfMemory(void*, const char*, bool) {
  if (!OwnsProcess()) throw std::bad_alloc();
  const char* doing = ExitWhenOutOfMemory::Current();
  ExitOutOfMemory(doing != nullptr ? doing : "LLVM");
}

// LLVM accepts only one handler, and by itself aborts. It is there while any thread is in a scope. In a process that is
// Tandem's it stays, for what LLVM does outside of scopes.
std::mutex handler_mutex;
int scopes = 0;

void InstallHandler() {
  std::lock_guard<std::mutex> lock(handler_mutex);
  if (scopes++ > 0) return;
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(OutOfMemory);
}

void RemoveHandler() {
  std::lock_guard<std::mutex> lock(handler_mutex);
  if (--scopes == 0 && !OwnsProcess()) llvm::remove_bad_alloc_error_handler();
}

}  // namespace

LlvmMemoryScope::LlvmMemoryScope(const char* doing) : scope_(doing) { InstallHandler(); }

LlvmMemoryScope::~LlvmMemoryScope() { RemoveHandler(); }

absl::Status CheckLlvmMemory(const char* doing) {
  if (OwnsProcess()) return absl::OkStatus();
  void* memory = mmap(nullptr, kNeededBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return OutOfMemoryError(absl::StrCat(doing, ": out of memory: the compiler needs ", kNeededBytes >> 20,
                                         " MiB, and the system does not give them; raise the limit (ulimit -v) or free "
                                         "memory"));
  }
  munmap(memory, kNeededBytes);
  return absl::OkStatus();
}

}  // namespace tandem
