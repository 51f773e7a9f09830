// The functions outside of kernels that kernels may call.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_IMPORTED_FUNCTIONS_H_
#define TANDEM_RUNTIME_CPU_KERNELS_IMPORTED_FUNCTIONS_H_

#include "absl/strings/string_view.h"

namespace tandem {

// Returns the address of a function of the C library that is on the list of those that kernels may call (mathematics,
// memcpy, memset, memmove), or of a function of the sanitizer that this process has. Null for any other, since that is
// a mistake of the compiler.
void* FindImportedFunction(absl::string_view name);

// Returns the build configuration with the sanitizer that a function of this name belongs to, "asan" or "tsan"; empty
// for other functions.
absl::string_view SanitizerOfFunction(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_IMPORTED_FUNCTIONS_H_
