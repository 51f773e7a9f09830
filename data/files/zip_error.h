// Converts libzip's errors to a Status.
#ifndef TANDEM_DATA_FILES_ZIP_ERROR_H_
#define TANDEM_DATA_FILES_ZIP_ERROR_H_

#include <zip.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/out_of_memory.h"

namespace tandem {

// Returns the status of a failed call. OutOfMemoryError if memory ran out, which libzip may also report as damage or as
// no error: so errno must have been 0 before the call. Else a status with the code `otherwise` and libzip's text.
// `what` begins the message.
inline absl::Status ZipError(absl::string_view what, absl::StatusCode otherwise, zip_error_t* error) {
  if (errno == ENOMEM || zip_error_code_zip(error) == ZIP_ER_MEMORY) {
    return OutOfMemoryError(absl::StrCat(what, ": out of memory"));
  }
  return absl::Status(otherwise, absl::StrCat(what, ": ", zip_error_strerror(error)));
}

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ZIP_ERROR_H_
