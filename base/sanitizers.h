// Macros for the sanitizer that this program was built with (--config=asan, ubsan or tsan:
// docs/developers/sanitizers.md). The compilers' own macros are undefined then, so that headers of system libraries
// match how these libraries were built.
#ifndef TANDEM_BASE_SANITIZERS_H_
#define TANDEM_BASE_SANITIZERS_H_

namespace tandem {

#ifdef TANDEM_SANITIZE_ADDRESS
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#ifdef TANDEM_SANITIZE_THREAD
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace tandem

#endif  // TANDEM_BASE_SANITIZERS_H_
