#include "base/posix_error.h"

#include <errno.h>

#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/out_of_memory.h"

namespace tandem {

absl::Status PosixError(int error_number, absl::string_view action, absl::string_view path) {
  std::string message = absl::StrCat(path.empty() ? "an empty path" : path, ": cannot ", action, ": ",
                                     std::generic_category().message(error_number));
  switch (error_number) {
    case ENOENT:
      return absl::NotFoundError(message);
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
      return absl::FailedPreconditionError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return WithExitCode(absl::PermissionDeniedError(message), kExitIo);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return WithExitCode(absl::ResourceExhaustedError(message), kExitIo);
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return WithExitCode(OutOfMemoryError(message), kExitIo);
    case EEXIST:
    case ENOTEMPTY:
      return WithExitCode(absl::AlreadyExistsError(message), kExitIo);
    default:
      return WithExitCode(absl::UnavailableError(message), kExitIo);
  }
}

absl::Status NotADirectoryError(absl::string_view path) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": is a file, and a directory is needed"));
}

}  // namespace tandem
