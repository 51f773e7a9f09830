// Names of files by pattern.
#ifndef TANDEM_DATA_LIST_FILES_H_
#define TANDEM_DATA_LIST_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// The regular files that a pattern names, sorted. `*` stands for any characters of a name but '/', `?` for one, `[a-z]`
// for one of a set, `[!a-z]` for one that is not in it, and `**` as a whole name for any number of directories, none
// included. Names that begin with a dot must be named so. A backslash takes the meaning of the next character away.
// NotFound, with the first names in the folder that was reached, when there is none; the errors of Env::ListDir when a
// folder cannot be read. Links to folders are followed, but not by `**`.
absl::StatusOr<std::vector<std::string>> MatchFiles(const std::string& pattern);

}  // namespace tandem

#endif  // TANDEM_DATA_LIST_FILES_H_
