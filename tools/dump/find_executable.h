// Finds the executable file that a command line refers to.
#ifndef TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
#define TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tandem {

// Returns `path` itself if it is a file. For a model directory: the newest executable of `mode` under compiled/ (if
// mode is empty: of "train" if there is one, else any). With a target ("cuda:sm_90", "cpu") only executables for it
// count. Errors: NotFound, with what was searched and which modes exist.
absl::StatusOr<std::string> FindExecutable(const std::string& path, const std::string& mode,
                                           const std::string& target = "");

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
