// The names of the files and directories that Tandem makes on the way to something else, as TemporaryPath (env.h) gives
// them.
#ifndef TANDEM_BASE_TEMPORARY_NAME_H_
#define TANDEM_BASE_TEMPORARY_NAME_H_

#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// What a file of this name is made for: "c-1" of ".tmp-c-1-77-0123456789abcdef-5". Empty for other names.
absl::string_view TargetOfTemporary(absl::string_view name);

// Whether `name` is such a name, or one of earlier versions, which had no random digits: ".tmp-<name>-<number>".
bool IsTemporary(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_TEMPORARY_NAME_H_
