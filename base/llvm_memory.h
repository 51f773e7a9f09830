// Handles LLVM and MLIR running out of memory: they check few allocations and cannot be unwound.
#ifndef TANDEM_BASE_LLVM_MEMORY_H_
#define TANDEM_BASE_LLVM_MEMORY_H_

#include "absl/status/status.h"
#include "base/resource_errors.h"

namespace tandem {

// Use it around all work of a thread in LLVM or MLIR. In a process that RunMain runs, a failed allocation ends the
// process with exit code 74 (ExitWhenOutOfMemory), also one of LLVM's own. In a process that only uses Tandem
// (base/owned_process.h) it is an exception, which CatchResourceErrors makes an error of where LLVM's and MLIR's state
// allows that. No signal is handled: an access to memory that MLIR did not get ends such a process as it would without
// Tandem. Therefore CheckLlvmMemory is called before.
class LlvmMemoryScope {
 public:
  // `doing`, such as "compiling", must outlive the scope.
  explicit LlvmMemoryScope(const char* doing);
  ~LlvmMemoryScope();
  LlvmMemoryScope(const LlvmMemoryScope&) = delete;
  LlvmMemoryScope& operator=(const LlvmMemoryScope&) = delete;

 private:
  ExitWhenOutOfMemory scope_;
};

// In a process that only uses Tandem: OutOfMemoryError unless there is as much memory as most models need to compile.
// Always OK in others, which LlvmMemoryScope protects.
absl::Status CheckLlvmMemory(const char* doing);

}  // namespace tandem

#endif  // TANDEM_BASE_LLVM_MEMORY_H_
