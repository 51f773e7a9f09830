// Files that a program writes when its work is done.
#ifndef TANDEM_BASE_OUTPUT_FILE_H_
#define TANDEM_BASE_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// Whether a file can be written to `path`, found out before the work whose result it is. `what` names it for errors:
// "--eval_json". InvalidArgument when the folder does not exist or the path is one; exit code 74 when nothing can be
// written there.
absl::Status CheckOutputFile(Env* env, absl::string_view what, const std::string& path);

// Replaces the file, as Env::WriteFileAtomically does; devices and pipes are written to. Errors as OutputError's.
absl::Status WriteOutputFile(Env* env, absl::string_view what, const std::string& path, absl::string_view bytes);

// An error of writing an output, with what it is and exit code 74: also where the folder is gone, which is no missing
// input. OK stays OK.
absl::Status OutputError(absl::string_view what, const absl::Status& status);

}  // namespace tandem

#endif  // TANDEM_BASE_OUTPUT_FILE_H_
