// Compiles kernels so that the address or thread sanitizer watches them like the code around them.
#ifndef TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_
#define TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace tandem {

enum class KernelSanitizer { kNone, kAddress, kThread };

// Returns the sanitizer that kernels of this process need: the one whose runtime the process has (it was built with
// --config=asan or tsan, or the runtime was preloaded), or none.
KernelSanitizer ProcessSanitizer();

// The names are "none", "address" and "thread".
absl::string_view Name(KernelSanitizer sanitizer);
absl::StatusOr<KernelSanitizer> ParseKernelSanitizer(absl::string_view name);

// Adds the passes of `sanitizer` to `passes`; they must be the last ones. Loads and stores of the module's functions
// then call the sanitizer's runtime, which the loader finds in the process.
void AddSanitizerPasses(KernelSanitizer sanitizer, llvm::Module& module, llvm::ModulePassManager& passes);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_SANITIZE_KERNELS_H_
