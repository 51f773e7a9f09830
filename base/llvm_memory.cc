#include "base/llvm_memory.h"

#include "llvm/Support/ErrorHandling.h"

namespace tandem {
namespace {

void OutOfMemory(void*, const char*, bool) {
  const char* doing = ExitWhenOutOfMemory::Current();
  ExitOutOfMemory(doing != nullptr ? doing : "LLVM");
}

}  // namespace

LlvmMemoryScope::LlvmMemoryScope(const char* doing) : scope_(doing) {
  [[maybe_unused]] static const bool installed = [] {
    llvm::remove_bad_alloc_error_handler();  // LLVM takes one only
    llvm::install_bad_alloc_error_handler(OutOfMemory);
    return true;
  }();
}

}  // namespace tandem
