// Returns memory to the system that is not needed for a long time, or never again.
#ifndef TANDEM_BASE_RELEASE_MEMORY_H_
#define TANDEM_BASE_RELEASE_MEMORY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tandem {

// A name for ReleaseLibraryPages that means the program or shared library that this code is linked into, because other
// libraries are linked into it too.
inline constexpr absl::string_view kOwnObject = "";

// Unmaps the code and constants of loaded shared libraries whose file names begin with one of `names` ("libLLVM") from
// this process. Pages that are used again are mapped from the page cache again, at some microseconds per 64 KiB, so
// this is for libraries that are used only once. Affects only segments that are never written. Thread-safe, also while
// other threads run that code. Returns the bytes of these segments.
int64_t ReleaseLibraryPages(absl::Span<const absl::string_view> names);

// Returns freed memory that malloc keeps to the system. Takes about a millisecond per 100 MB of heap.
void ReleaseFreedMemory();

}  // namespace tandem

#endif  // TANDEM_BASE_RELEASE_MEMORY_H_
