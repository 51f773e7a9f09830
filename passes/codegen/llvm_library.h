// Returns the LLVM library that compiles kernels.
#ifndef TANDEM_PASSES_CODEGEN_LLVM_LIBRARY_H_
#define TANDEM_PASSES_CODEGEN_LLVM_LIBRARY_H_

#include "base/loaded_library.h"

namespace tandem {

LoadedLibrary LlvmLibrary();

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LLVM_LIBRARY_H_
