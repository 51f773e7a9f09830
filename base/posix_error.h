// errno values as absl::Status.
#ifndef TANDEM_BASE_POSIX_ERROR_H_
#define TANDEM_BASE_POSIX_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// An error "<path>: cannot <action>: <errno text>" for a failed call on a file:
//   ENOENT NotFound; EACCES, EPERM, EROFS PermissionDenied; ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE ResourceExhausted;
//   EEXIST, ENOTEMPTY AlreadyExists; ENOTDIR, EISDIR, ENAMETOOLONG FailedPrecondition; all others Unavailable.
// All but NotFound and FailedPrecondition carry the exit code 74.
absl::Status PosixError(int error_number, absl::string_view action, absl::string_view path);

}  // namespace tandem

#endif  // TANDEM_BASE_POSIX_ERROR_H_
