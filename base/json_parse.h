// Parses JSON from untrusted text.
#ifndef TANDEM_BASE_JSON_PARSE_H_
#define TANDEM_BASE_JSON_PARSE_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace tandem {

// The most levels of nesting that are accepted. Tandem's own JSON has less than ten; arrays of metrics have as many as
// their tensor has dimensions.
inline constexpr int kMaxJsonDepth = 64;

// True if arrays and objects in `text` nest deeper than kMaxJsonDepth. The JSON library reads any depth, but overflows
// the stack when it copies or writes such a value.
bool JsonIsTooDeep(absl::string_view text);

// Returns a discarded value (is_discarded()) if `text` is not JSON or nests too deep.
nlohmann::json ParseJson(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_BASE_JSON_PARSE_H_
