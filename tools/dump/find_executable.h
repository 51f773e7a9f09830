// Which executable file a command line means.
#ifndef TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
#define TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tandem {

// `path` itself when it is a file. For a model directory: the newest executable of `mode` under compiled/ (of "train"
// when mode is empty and there is one, else any). With a target ("cuda:sm_90", "cpu") only executables for it count.
// Errors: NotFound that says what was looked for and which modes are there.
absl::StatusOr<std::string> FindExecutable(const std::string& path, const std::string& mode,
                                           const std::string& target = "");

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_FIND_EXECUTABLE_H_
