// Loads libzip only when the first archive is opened: libzip loads OpenSSL's libcrypto, for encrypted archives, which
// would make every start of every program some milliseconds longer.
#ifndef TANDEM_DATA_FILES_LIBZIP_H_
#define TANDEM_DATA_FILES_LIBZIP_H_

#include <zip.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The functions of libzip that Tandem calls.
#define TANDEM_LIBZIP_FUNCTIONS(F)     \
  F(zip_open)                          \
  F(zip_discard)                       \
  F(zip_close)                         \
  F(zip_get_num_entries)               \
  F(zip_get_error)                     \
  F(zip_name_locate)                   \
  F(zip_stat_init)                     \
  F(zip_stat_index)                    \
  F(zip_fopen_index)                   \
  F(zip_fread)                         \
  F(zip_fclose)                        \
  F(zip_file_get_error)                \
  F(zip_open_from_source)              \
  F(zip_file_add)                      \
  F(zip_set_file_compression)          \
  F(zip_file_set_dostime)              \
  F(zip_source_buffer_create)          \
  F(zip_source_buffer_fragment_create) \
  F(zip_source_free)                   \
  F(zip_source_keep)                   \
  F(zip_source_open)                   \
  F(zip_source_read)                   \
  F(zip_source_close)                  \
  F(zip_source_stat)                   \
  F(zip_source_error)                  \
  F(zip_error_init)                    \
  F(zip_error_init_with_code)          \
  F(zip_error_fini)                    \
  F(zip_error_code_zip)                \
  F(zip_error_strerror)

struct LibZip {
#define TANDEM_MEMBER(name) decltype(&::name) name;
  TANDEM_LIBZIP_FUNCTIONS(TANDEM_MEMBER)
#undef TANDEM_MEMBER

  // Returns the status of a failed call. OutOfMemoryError if memory ran out, which libzip may also report as damage or
  // as no error: so errno must have been 0 before the call. Else a status with the code `otherwise` and libzip's text.
  // `what` begins the message.
  absl::Status Error(absl::string_view what, absl::StatusCode otherwise, zip_error_t* error) const;
};

// Opens libzip, once. Errors: those of SharedLibrary.
absl::StatusOr<const LibZip*> OpenLibZip();

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_LIBZIP_H_
