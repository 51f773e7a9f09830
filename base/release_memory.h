// Gives memory back to the system that is needed again late or never.
#ifndef TANDEM_BASE_RELEASE_MEMORY_H_
#define TANDEM_BASE_RELEASE_MEMORY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tandem {

// The program itself among the names for ReleaseLibraryPages: it has libraries linked in.
inline constexpr absl::string_view kThisProgram = "";

// Unmaps, from this process, the code and constants of loaded shared libraries whose file names begin with one of
// `names` ("libLLVM"). What is used again is mapped again from the page cache, at some microseconds per 64 KiB: for
// libraries that worked once. Only segments that are never written are touched. Thread-safe, also while others run
// that code. Returns the bytes of these segments.
int64_t ReleaseLibraryPages(absl::Span<const absl::string_view> names);

// What malloc keeps of freed memory goes back to the system. Takes a millisecond or so per 100 MB of heap.
void ReleaseFreedMemory();

}  // namespace tandem

#endif  // TANDEM_BASE_RELEASE_MEMORY_H_
