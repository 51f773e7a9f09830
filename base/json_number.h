// Numbers in JSON, which cannot represent infinities and NaN.
#ifndef TANDEM_BASE_JSON_NUMBER_H_
#define TANDEM_BASE_JSON_NUMBER_H_

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/non_finite_name.h"

namespace tandem {

// Returns `value` as a JSON number or, if it is not finite, as the string that NonFiniteName returns.
inline nlohmann::ordered_json NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  return std::string(NonFiniteName(value));
}

// Returns the number that NumberToJson wrote as `json`. Null, which earlier versions wrote for all non-finite
// numbers, is NaN. nullopt for any other value.
template <typename Json>
std::optional<double> NumberFromJson(const Json& json) {
  using Limits = std::numeric_limits<double>;
  if (json.is_number()) return json.template get<double>();
  if (json.is_null()) return Limits::quiet_NaN();
  if (!json.is_string()) return std::nullopt;
  for (const double value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    if (json.template get_ref<const std::string&>() == NonFiniteName(value)) return value;
  }
  return std::nullopt;
}

}  // namespace tandem

#endif  // TANDEM_BASE_JSON_NUMBER_H_
