// Kernels that the address or thread sanitizer watches, as it does the code around them.
#ifndef TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_
#define TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace tandem {

enum class KernelSanitizer { kNone, kAddress, kThread };

// What kernels must be made with to be like this process: the sanitizer whose runtime it has (it was built with
// --config=asan or tsan, or the runtime was preloaded), or none.
KernelSanitizer ProcessSanitizer();

// "none", "address", "thread".
absl::string_view Name(KernelSanitizer sanitizer);
absl::StatusOr<KernelSanitizer> ParseKernelSanitizer(absl::string_view name);

// Adds to `passes`, the last of a module's, what lets `sanitizer` watch its functions. Their loads and stores call the
// sanitizer's runtime from then on, which the loader finds in the process.
void AddSanitizerPasses(KernelSanitizer sanitizer, llvm::Module& module, llvm::ModulePassManager& passes);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_
