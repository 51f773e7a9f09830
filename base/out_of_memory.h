// Memory, or file descriptors, that run out, told apart from other resources and from limits that were set.
#ifndef TANDEM_BASE_OUT_OF_MEMORY_H_
#define TANDEM_BASE_OUT_OF_MEMORY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// ResourceExhausted, marked: what failed may be right as it is, and work when it is tried again.
absl::Status OutOfMemoryError(absl::string_view message);

// Whether `status`, perhaps annotated since, was made by OutOfMemoryError.
bool IsOutOfMemory(const absl::Status& status);

}  // namespace tandem

#endif  // TANDEM_BASE_OUT_OF_MEMORY_H_
