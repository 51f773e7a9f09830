// Converts errno values to absl::Status.
#ifndef TANDEM_BASE_POSIX_ERROR_H_
#define TANDEM_BASE_POSIX_ERROR_H_

#include <errno.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns the error "<path>: cannot <action>: <errno text>" for a failed call on a file:
//   ENOENT NotFound; EACCES, EPERM, EROFS PermissionDenied; ENOSPC, EDQUOT, EFBIG ResourceExhausted; ENOMEM, EMFILE,
//   ENFILE OutOfMemoryError; EEXIST, ENOTEMPTY AlreadyExists; ENOTDIR, EISDIR, ENAMETOOLONG FailedPrecondition; all
//   others Unavailable.
// All except NotFound and FailedPrecondition carry the exit code 74.
absl::Status PosixError(int error_number, absl::string_view action, absl::string_view path);

// Returns FailedPrecondition: `path` is a file, and a directory is needed.
absl::Status NotADirectoryError(absl::string_view path);

// Returns the result of `call`, which is repeated as long as it returns -1 because of a signal (EINTR): network and
// user-space file systems may do so in any operation. Not for close, which has closed the file even then.
template <typename Call>
auto RetryInterrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace tandem

#endif  // TANDEM_BASE_POSIX_ERROR_H_
