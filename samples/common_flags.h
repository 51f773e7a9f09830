// Flags that all samples have.
#ifndef TANDEM_SAMPLES_COMMON_FLAGS_H_
#define TANDEM_SAMPLES_COMMON_FLAGS_H_

#include "absl/status/status.h"
#include "estimator/run_config.h"

namespace tandem {

// Sets what --precision, --trace and --trace_steps say. InvalidArgument for an unknown precision.
absl::Status ApplyCommonFlags(RunConfig* config);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_COMMON_FLAGS_H_
