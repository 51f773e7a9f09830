// The progress line of a training: its hook, with what the training knows.
#ifndef TANDEM_ESTIMATOR_PROGRESS_HOOKS_H_
#define TANDEM_ESTIMATOR_PROGRESS_HOOKS_H_

#include <cstdint>
#include <map>
#include <string>

#include "estimator/batch_dealer.h"
#include "estimator/session_run_hook.h"
#include "frontends/metrics.h"

namespace tandem {

// For stderr, a terminal. Training ends at global step `max_steps` or after `steps` more; 0: not known. `metrics` are
// those of the model's training, shown over its last steps.
HookList ProgressHooks(int64_t max_steps, int64_t steps, const BatchDealer& dealer,
                       const std::map<std::string, Metric>& metrics);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PROGRESS_HOOKS_H_
