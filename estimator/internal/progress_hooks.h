// Makes the hooks that show the progress line of a training.
#ifndef TANDEM_ESTIMATOR_INTERNAL_PROGRESS_HOOKS_H_
#define TANDEM_ESTIMATOR_INTERNAL_PROGRESS_HOOKS_H_

#include <cstdint>
#include <map>
#include <string>

#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/session_run_hook.h"
#include "frontends/metrics.h"

namespace tandem {

// Returns hooks that write to stderr, which must be a terminal. Training ends at global step `max_steps` or after
// `steps` more; 0: not known. `metrics` are those of the model's EstimatorSpec::Train; they are shown over the last few
// steps.
HookList ProgressHooks(int64_t max_steps, int64_t steps, const BatchDealer& dealer,
                       const std::map<std::string, Metric>& metrics);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_PROGRESS_HOOKS_H_
