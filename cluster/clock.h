// After: the point in time that is a number of seconds from now.
#ifndef TANDEM_CLUSTER_CLOCK_H_
#define TANDEM_CLUSTER_CLOCK_H_

#include <algorithm>
#include <chrono>

namespace tandem {

// Returns the time `seconds` from now. `seconds` is limited so that any clock can hold the result; a negative number or
// NaN counts as 0.
template <typename Clock>
typename Clock::time_point After(double seconds) {
  constexpr double kMost = 1e8;
  const double bounded = seconds >= 0 ? std::min(seconds, kMost) : 0;
  return Clock::now() + std::chrono::duration_cast<typename Clock::duration>(std::chrono::duration<double>(bounded));
}

}  // namespace tandem

#endif  // TANDEM_CLUSTER_CLOCK_H_
