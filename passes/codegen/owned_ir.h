// The LLVM IR of a kernel, in a context of its own, so that any thread may compile it.
#ifndef TANDEM_PASSES_CODEGEN_OWNED_IR_H_
#define TANDEM_PASSES_CODEGEN_OWNED_IR_H_

#include <memory>

#include "absl/status/status.h"
#include "base/out_of_memory.h"
#include "base/resource_errors.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tandem {

struct OwnedIr {
  void Destroy() {
    module.reset();
    context.reset();
  }
  // Leaves both for ever.
  void Leave() {
    static_cast<void>(module.release());
    static_cast<void>(context.release());
  }

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // must be destroyed before its context
};

// Returns work(), which makes or compiles the IR of `job` (job.LeaveIr() leaves it). Where memory runs out, LLVM could
// not destroy the IR, which is left. Only in processes that use Tandem: others have ended (base/llvm_memory.h).
template <typename Job, typename Work>
absl::Status CatchWithIr(Job& job, const Work& work) {
  absl::Status status = CatchResourceErrors("compiling a kernel", work);
  if (IsOutOfMemory(status)) job.LeaveIr();
  return status;
}

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OWNED_IR_H_
