// LLVM and MLIR without memory: they check no allocation and cannot be unwound, so the process ends with exit code 74.
#ifndef TANDEM_BASE_LLVM_MEMORY_H_
#define TANDEM_BASE_LLVM_MEMORY_H_

#include "base/resource_errors.h"

namespace tandem {

// ExitWhenOutOfMemory, for LLVM's own allocations too: around all work of this thread in LLVM or MLIR.
class LlvmMemoryScope {
 public:
  // `doing`, such as "compiling", must outlive the scope.
  explicit LlvmMemoryScope(const char* doing);

 private:
  ExitWhenOutOfMemory scope_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_LLVM_MEMORY_H_
