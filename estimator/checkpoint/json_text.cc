#include "estimator/checkpoint/json_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace tandem {

absl::StatusOr<std::string> JsonText(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {  // text that is not UTF-8 is reported by an exception
    return absl::InvalidArgumentError(absl::StrCat("\"", absl::CHexEscape(text), "\" is not UTF-8 text"));
  }
}

}  // namespace tandem
