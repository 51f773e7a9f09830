// JSON from text that anybody may have written.
#ifndef TANDEM_BASE_JSON_PARSE_H_
#define TANDEM_BASE_JSON_PARSE_H_

#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"

namespace tandem {

// What Tandem writes nests less than ten deep; arrays of metrics nest as deep as a tensor has dimensions.
inline constexpr int kMaxJsonDepth = 64;

// Whether arrays and objects of `text` nest deeper than kMaxJsonDepth. The library reads any depth, and runs out of
// stack when it copies or writes such a value.
bool JsonIsTooDeep(absl::string_view text);

// Discarded (is_discarded()) where `text` is no JSON or too deep.
nlohmann::json ParseJson(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_BASE_JSON_PARSE_H_
