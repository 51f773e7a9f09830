// Files that a program writes at the end of its work.
#ifndef TANDEM_BASE_OUTPUT_FILE_H_
#define TANDEM_BASE_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/env.h"

namespace TANDEM_API tandem {

// Checks, before the work is done, whether its result can be written to `path`. `what` names the file in errors:
// "--eval_json". InvalidArgument when the folder does not exist or the path is a folder; exit code 74 when nothing can
// be written there.
absl::Status CheckOutputFile(Env* env, absl::string_view what, const std::string& path);

// Replaces the file, as Env::WriteFileAtomically does; writes to devices and pipes directly. Errors are those of
// OutputError.
absl::Status WriteOutputFile(Env* env, absl::string_view what, const std::string& path, absl::string_view bytes);

// Returns an error of writing the output that `what` names, with this name and exit code 74. The code is 74 even if the
// folder is gone, since a missing folder is not a missing input. OK stays OK.
absl::Status OutputError(absl::string_view what, const absl::Status& status);

}  // namespace tandem

#endif  // TANDEM_BASE_OUTPUT_FILE_H_
