#include "passes/codegen/sanitize_kernels.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"

namespace tandem {

KernelSanitizer ProcessSanitizer() {
  static const KernelSanitizer sanitizer = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr   ? KernelSanitizer::kAddress
                                           : dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr ? KernelSanitizer::kThread
                                                                                           : KernelSanitizer::kNone;
  return sanitizer;
}

absl::string_view Name(KernelSanitizer sanitizer) {
  switch (sanitizer) {
    case KernelSanitizer::kAddress:
      return "address";
    case KernelSanitizer::kThread:
      return "thread";
    default:
      return "none";
  }
}

absl::StatusOr<KernelSanitizer> ParseKernelSanitizer(absl::string_view name) {
  for (KernelSanitizer s : {KernelSanitizer::kNone, KernelSanitizer::kAddress, KernelSanitizer::kThread}) {
    if (Name(s) == name) return s;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no sanitizer \"", name, "\" for kernels; use address, thread or none"));
}

void AddSanitizerPasses(KernelSanitizer sanitizer, llvm::Module& module, llvm::ModulePassManager& passes) {
  if (sanitizer == KernelSanitizer::kNone) return;
  const bool address = sanitizer == KernelSanitizer::kAddress;
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) f.addFnAttr(address ? llvm::Attribute::SanitizeAddress : llvm::Attribute::SanitizeThread);
  }
  if (address) {
    llvm::AddressSanitizerOptions options;
    options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    // Kernels need no module constructors, because the process has initialised the sanitizer's runtime.
    passes.addPass(llvm::AddressSanitizerPass(options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false,
                                              llvm::AsanDtorKind::None, llvm::AsanCtorKind::None));
  } else {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  }
}

}  // namespace tandem
