// The identity of this build of the compiler.
#ifndef TANDEM_PASSES_BASE_BUILD_ID_H_
#define TANDEM_PASSES_BASE_BUILD_ID_H_

#include <string>

namespace tandem {

// Returns the linker's build id of the running program in hexadecimal, which changes whenever its code does; "unknown"
// when the program was linked without one. It is part of every cache key.
std::string BuildId();

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_BUILD_ID_H_
