// First values of variables from a file or a checkpoint.
#ifndef TANDEM_ESTIMATOR_WARM_START_H_
#define TANDEM_ESTIMATOR_WARM_START_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/run_config.h"
#include "graph/graph_builder.h"

namespace tandem {

// The values for those variables of the model that the pattern chooses and the source has, logged by name.
// InvalidArgument, with all differences, when shapes or types differ, or when the source has none of the chosen
// variables. Other errors as CheckpointReader::Open.
absl::StatusOr<TensorMap> ReadWarmStart(Env* env, const WarmStartSettings& settings,
                                        const std::vector<VariableSpec>& variables);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_H_
