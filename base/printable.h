// Text of unknown origin for terminals and logs.
#ifndef TANDEM_BASE_PRINTABLE_H_
#define TANDEM_BASE_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// `text` with each control character (C0 but newline and tab, DEL, C1) and each byte that is not UTF-8 written as
// "\x1b": names that come from files cannot steer a terminal. Newlines and tabs of a single line are escaped too.
std::string Printable(absl::string_view text);
std::string PrintableLine(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_BASE_PRINTABLE_H_
