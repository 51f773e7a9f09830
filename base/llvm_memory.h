// Handles LLVM and MLIR running out of memory: they check no allocation and cannot be unwound, so the process ends with
// exit code 74.
#ifndef TANDEM_BASE_LLVM_MEMORY_H_
#define TANDEM_BASE_LLVM_MEMORY_H_

#include "base/resource_errors.h"

namespace tandem {

// ExitWhenOutOfMemory that also covers LLVM's own allocations. Use it around all work of a thread in LLVM or MLIR.
class LlvmMemoryScope {
 public:
  // `doing`, such as "compiling", must outlive the scope.
  explicit LlvmMemoryScope(const char* doing);

 private:
  ExitWhenOutOfMemory scope_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_LLVM_MEMORY_H_
