#include "passes/codegen/llvm_library.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

namespace tandem {

LoadedLibrary LlvmLibrary() {
  return {.name = "LLVM",
          .version = LLVM_VERSION_STRING,
          .file = FileOfCode(reinterpret_cast<const void*>(&llvm::sys::getHostCPUName))};
}

}  // namespace tandem
