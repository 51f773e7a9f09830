// The names of the files and directories that Tandem makes on the way to something else.
#ifndef TANDEM_BASE_TEMPORARY_NAME_H_
#define TANDEM_BASE_TEMPORARY_NAME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// A name beside `path` that no other call has given: not in this process, and not in another one with the same id, such
// as the first ones of two containers. ".tmp-<name>-<process>-<16 random hexadecimal digits>-<count>"; of a long name
// only the beginning.
std::string TemporaryPath(Env* env, absl::string_view path);

// The name that `name`, of such a path, is made for: "c-1" of ".tmp-c-1-77-0123456789abcdef-5". Empty for other names.
absl::string_view TargetOfTemporary(absl::string_view name);

// Whether `name` is such a name, or one of earlier versions, which had no random digits: ".tmp-<name>-<number>".
bool IsTemporary(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_TEMPORARY_NAME_H_
