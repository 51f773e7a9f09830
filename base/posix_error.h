// errno values as absl::Status.
#ifndef TANDEM_BASE_POSIX_ERROR_H_
#define TANDEM_BASE_POSIX_ERROR_H_

#include <errno.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// An error "<path>: cannot <action>: <errno text>" for a failed call on a file:
//   ENOENT NotFound; EACCES, EPERM, EROFS PermissionDenied; ENOSPC, EDQUOT, EFBIG ResourceExhausted; ENOMEM, EMFILE,
//   ENFILE OutOfMemoryError; EEXIST, ENOTEMPTY AlreadyExists; ENOTDIR, EISDIR, ENAMETOOLONG FailedPrecondition; all
//   others Unavailable.
// All but NotFound and FailedPrecondition carry the exit code 74.
absl::Status PosixError(int error_number, absl::string_view action, absl::string_view path);

// What `call` returns, called again while it is -1 because a signal came in between (EINTR): network and user-space
// file systems may say so at any operation. Not for close, which has closed all the same.
template <typename Call>
auto RetryInterrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace tandem

#endif  // TANDEM_BASE_POSIX_ERROR_H_
