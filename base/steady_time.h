// SteadyNow: the time for waits and deadlines.
#ifndef TANDEM_BASE_STEADY_TIME_H_
#define TANDEM_BASE_STEADY_TIME_H_

#include <chrono>

#include "absl/time/time.h"

namespace tandem {

// Returns the time since some moment before the process began. Unlike absl::Now it does not jump when the machine's
// clock is set.
inline absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace tandem

#endif  // TANDEM_BASE_STEADY_TIME_H_
