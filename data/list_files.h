// Finds files by patterns of their names.
#ifndef TANDEM_DATA_LIST_FILES_H_
#define TANDEM_DATA_LIST_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Returns the regular files that match a pattern, sorted. `*` stands for any characters of a name but '/', `?` for one
// character, `[a-z]` for one of a set, `[!a-z]` for one that is not in it, and `**` as a whole path component for any
// number of directories, also none. A leading dot of a name must be written in the pattern. A backslash makes the next
// character literal. NotFound, with the first names in the last folder that was searched, when nothing matches; the
// errors of Env::ListDir when a folder cannot be read. Links to folders are followed, but not by `**`.
absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern);

}  // namespace tandem

#endif  // TANDEM_DATA_LIST_FILES_H_
