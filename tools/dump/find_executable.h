// Finds the executable file that a command line refers to.
#ifndef TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
#define TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tandem {

// Returns `path` itself if it is a file. If it is a model directory, returns the newest executable of `mode` under
// compiled/; with an empty mode that of "train", or if there is none that of any mode. With a target ("cuda:sm_90",
// "cpu"), only executables for that target count. NotFound, with what was searched and which modes exist, if there is
// none.
absl::StatusOr<std::string> FindExecutable(const std::string& path, const std::string& mode,
                                           const std::string& target = "");

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
