// The clock of hooks that measure or wait. It is an argument, so that tests need not wait.
#ifndef TANDEM_ESTIMATOR_HOOKS_CLOCK_H_
#define TANDEM_ESTIMATOR_HOOKS_CLOCK_H_

#include <functional>

#include "tandem/base/api.h"
#include "tandem/base/env.h"

namespace TANDEM_API tandem {

// Returns seconds since some fixed point; never goes back.
using Clock = std::function<double()>;

// The clock of the machine.
inline Clock SystemClock() {
  return [] { return Env::Default()->MonotonicSeconds(); };
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_CLOCK_H_
