// The identity of this build of the compiler.
#ifndef TANDEM_PASSES_BASE_BUILD_ID_H_
#define TANDEM_PASSES_BASE_BUILD_ID_H_

#include <string>

namespace tandem {

// Returns, in hexadecimal, the linker's build id of the program or shared library that holds the compiler, which
// changes whenever its code does; "unknown" when it was linked without one. It is part of every cache key.
std::string BuildId();

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_BUILD_ID_H_
