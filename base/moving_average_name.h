// The name of a variable's exponential moving average.
#ifndef TANDEM_BASE_MOVING_AVERAGE_NAME_H_
#define TANDEM_BASE_MOVING_AVERAGE_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Returns the name of the slot (state variable) that Optimizer::WithMovingAverage makes for a variable. The slot's
// first value is that of the variable.
inline std::string MovingAverageName(absl::string_view variable) {
  return absl::StrCat(variable, "/ExponentialMovingAverage");
}

}  // namespace tandem

#endif  // TANDEM_BASE_MOVING_AVERAGE_NAME_H_
