// Marks errors of running out of memory or file descriptors, as opposed to other resources and to limits set by users.
#ifndef TANDEM_BASE_OUT_OF_MEMORY_H_
#define TANDEM_BASE_OUT_OF_MEMORY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns ResourceExhausted with a mark: the operation may be valid, and succeed when it is tried again.
absl::Status OutOfMemoryError(absl::string_view message);

// True if `status`, perhaps annotated since, was made by OutOfMemoryError.
bool IsOutOfMemory(const absl::Status& status);

}  // namespace tandem

#endif  // TANDEM_BASE_OUT_OF_MEMORY_H_
