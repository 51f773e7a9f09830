// Measures how much time has passed.
#ifndef TANDEM_BASE_TIMING_H_
#define TANDEM_BASE_TIMING_H_

#include <chrono>

namespace tandem {

// Returns the seconds since `start`, a time of any clock.
template <typename TimePoint>
double SecondsSince(TimePoint start) {
  return std::chrono::duration<double>(TimePoint::clock::now() - start).count();
}

}  // namespace tandem

#endif  // TANDEM_BASE_TIMING_H_
