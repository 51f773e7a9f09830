// libzip's errors as a Status.
#ifndef TANDEM_DATA_FILES_ZIP_ERROR_H_
#define TANDEM_DATA_FILES_ZIP_ERROR_H_

#include <zip.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/out_of_memory.h"

namespace tandem {

// Of a call that failed, behind `what`. OutOfMemoryError where there was no memory, which libzip also calls damage, or
// no error: errno must have been 0 before the call. Else of kind `otherwise`, with libzip's text.
inline absl::Status ZipError(absl::string_view what, absl::StatusCode otherwise, zip_error_t* error) {
  if (errno == ENOMEM || zip_error_code_zip(error) == ZIP_ER_MEMORY) {
    return OutOfMemoryError(absl::StrCat(what, ": out of memory"));
  }
  return absl::Status(otherwise, absl::StrCat(what, ": ", zip_error_strerror(error)));
}

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ZIP_ERROR_H_
