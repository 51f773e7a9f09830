// Flags that all samples have.
#ifndef TANDEM_SAMPLES_COMMON_FLAGS_H_
#define TANDEM_SAMPLES_COMMON_FLAGS_H_

#include "estimator/run_config.h"

namespace tandem {

// Sets what --trace and --trace_steps say.
void ApplyCommonFlags(RunConfig* config);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_COMMON_FLAGS_H_
