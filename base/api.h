// TANDEM_API marks the namespace of a header for users: libtandem.so exports what is declared there, and nothing else
// (docs/developers/decisions/0085-exported-names.md).
#ifndef TANDEM_BASE_API_H_
#define TANDEM_BASE_API_H_

#include "absl/base/options.h"

// Sources of Tandem compile as if for any library, so that they link with MLIR's shared libraries, which hidden names
// would not. What "protected" changes for them is that the linker can tell these names (tools/build/exported_names.py).
#ifdef TANDEM_LIBRARY
#define TANDEM_API [[gnu::visibility("protected")]]
#else
#define TANDEM_API [[gnu::visibility("default")]]
#endif

// Types of Abseil are part of the API, so a program must be compiled with the Abseil that Tandem was compiled with.
#define TANDEM_PASTE_TOKENS(a, b) a##b
#define TANDEM_PASTE(a, b) TANDEM_PASTE_TOKENS(a, b)
#define TANDEM_IS_ABSEIL_debian3 1
#if !ABSL_OPTION_USE_INLINE_NAMESPACE || !TANDEM_PASTE(TANDEM_IS_ABSEIL_, ABSL_OPTION_INLINE_NAMESPACE_NAME)
#error \
    "Tandem needs Debian 12's Abseil (libabsl-dev 20220623), and this file includes another one. Put Debian's first \
in the include path, or use tandem_c.h, which has no types of Abseil."
#endif
#undef TANDEM_IS_ABSEIL_debian3
#undef TANDEM_PASTE
#undef TANDEM_PASTE_TOKENS

#endif  // TANDEM_BASE_API_H_
