// Numbers in JSON, which has none for infinities and NaN.
#ifndef TANDEM_BASE_JSON_NUMBER_H_
#define TANDEM_BASE_JSON_NUMBER_H_

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/non_finite_name.h"

namespace tandem {

// A number, or where it is not finite the string that NonFiniteName gives.
inline nlohmann::ordered_json NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  return std::string(NonFiniteName(value));
}

// The number that NumberToJson has written as that value. Null, which stood for all that is not finite once, is NaN.
// Nothing for any other value.
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
