// The temporary files and directories that Tandem makes, and what dead processes have left of them.
#ifndef TANDEM_BASE_TEMPORARY_FILES_H_
#define TANDEM_BASE_TEMPORARY_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// Names are ".tmp-<name>-<process>" or ".tmp-<name>-<process>-<count>" (`counted`), beside what they will become.
// The process id in such a name; 0 for another name.
int ProcessOfTemporary(absl::string_view name, bool counted);

// Deletes from `dir` the temporary files of processes that are not running on this machine, and of earlier ones with
// this process's id. OK when there is no such directory.
absl::Status DeleteTemporaries(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_BASE_TEMPORARY_FILES_H_
