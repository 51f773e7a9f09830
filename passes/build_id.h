// The identity of this build of the compiler.
#ifndef TANDEM_PASSES_BUILD_ID_H_
#define TANDEM_PASSES_BUILD_ID_H_

#include <string>

namespace tandem {

// The linker's build id of the running program in hexadecimal: changes whenever its code does. Part of every cache key.
// "unknown" when the program was linked without one.
std::string BuildId();

}  // namespace tandem

#endif  // TANDEM_PASSES_BUILD_ID_H_
