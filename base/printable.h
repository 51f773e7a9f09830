// Makes text of unknown origin safe for terminals and logs.
#ifndef TANDEM_BASE_PRINTABLE_H_
#define TANDEM_BASE_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Returns `text` with each control character (C0 except newline and tab, DEL, C1) and each byte that is not UTF-8
// written as "\x1b", so that names that come from files cannot control a terminal. PrintableLine also escapes newlines
// and tabs.
std::string Printable(absl::string_view text);
std::string PrintableLine(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_BASE_PRINTABLE_H_
