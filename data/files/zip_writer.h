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
  std::vector<absl::string_view> pieces;  // one behind the other; at least one
};

// The bytes of an archive of `entries`, in their order and not compressed. Equal entries give equal bytes: nothing
// tells the time. `what` it is, such as "an .npz archive", is for messages. InvalidArgument for a name that is not
// UTF-8, has a NUL, more than 65,535 bytes, or that another entry has.
absl::StatusOr<std::string> SerializeZip(const std::vector<ZipContent>& entries, absl::string_view what);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ZIP_WRITER_H_
