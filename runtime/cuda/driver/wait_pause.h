// How long the host sleeps between two checks of what a GPU is doing.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_WAIT_PAUSE_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_WAIT_PAUSE_H_

#include <algorithm>

#include "absl/time/time.h"

namespace tandem {

// Returns the pause after the host has waited for `waited`: none in the first milliseconds, in which most steps end,
// since a sleep takes 70 microseconds at least; then longer and longer, up to a millisecond, to leave the core to
// others.
inline absl::Duration WaitPause(absl::Duration waited) {
  constexpr absl::Duration kSpin = absl::Milliseconds(5);
  if (waited < kSpin) return absl::ZeroDuration();
  return std::clamp(waited / 1000, absl::Microseconds(20), absl::Milliseconds(1));
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_WAIT_PAUSE_H_
