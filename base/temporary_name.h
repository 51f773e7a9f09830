// Names of the temporary files and directories that Tandem makes, as TemporaryPath (env.h) generates them.
#ifndef TANDEM_BASE_TEMPORARY_NAME_H_
#define TANDEM_BASE_TEMPORARY_NAME_H_

#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// Returns the target of a temporary file's name: "c-1" for ".tmp-c-1-77-0123456789abcdef-5". Empty for other names.
absl::string_view TargetOfTemporary(absl::string_view name);

// True if `name` is the name of a temporary file, also in the form of earlier versions, which had no random digits:
// ".tmp-<name>-<number>".
bool IsTemporary(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_TEMPORARY_NAME_H_
