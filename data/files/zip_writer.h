// Writes zip archives.
#ifndef TANDEM_DATA_FILES_ZIP_WRITER_H_
#define TANDEM_DATA_FILES_ZIP_WRITER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct ZipContent {
  std::string name;
  std::vector<absl::string_view> pieces;  // the parts of the content, which is their concatenation; at least one
};

// Returns the bytes of an uncompressed archive of `entries`, in their order. Equal entries give equal bytes: no time is
// stored. `what` says in messages what the archive is, such as "an .npz archive". InvalidArgument for a name that is
// not UTF-8, contains a NUL, has more than 65,535 bytes, or occurs twice.
absl::StatusOr<std::string> SerializeZip(const std::vector<ZipContent>& entries, absl::string_view what);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ZIP_WRITER_H_
