// CountText: a number of things, in words.
#ifndef TANDEM_BASE_COUNT_TEXT_H_
#define TANDEM_BASE_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns, for example, "1 worker" or "2 workers". `noun` is in the singular, and its plural has an s.
inline std::string CountText(int64_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

}  // namespace tandem

#endif  // TANDEM_BASE_COUNT_TEXT_H_
