// Text for infinities and NaN.
#ifndef TANDEM_BASE_NON_FINITE_NAME_H_
#define TANDEM_BASE_NON_FINITE_NAME_H_

#include <cmath>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// "Infinity", "-Infinity" or "NaN", as in the JSON mapping of Protocol Buffers. `value` is not finite.
inline absl::string_view NonFiniteName(double value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace tandem

#endif  // TANDEM_BASE_NON_FINITE_NAME_H_
