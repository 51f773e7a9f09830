// Writes JSON as text.
#ifndef TANDEM_BASE_JSON_STRING_H_
#define TANDEM_BASE_JSON_STRING_H_

#include <string>

namespace tandem {

// Returns the text of a nlohmann::basic_json. Strings come from paths and users' names, which may not be UTF-8: invalid
// bytes become U+FFFD, where the library would throw by default. `indent` < 0: on one line.
template <typename Json>
std::string JsonString(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace tandem

#endif  // TANDEM_BASE_JSON_STRING_H_
