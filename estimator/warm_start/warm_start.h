// Reads first values of variables from a file or a checkpoint.
#ifndef TANDEM_ESTIMATOR_WARM_START_WARM_START_H_
#define TANDEM_ESTIMATOR_WARM_START_WARM_START_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/config/run_config.h"
#include "graph/graph_builder.h"

namespace tandem {

// Returns the value that the initialiser gave a variable.
using InitialValueFn = std::function<absl::StatusOr<HostTensor>(const std::string& name)>;

// Returns the values for those variables of the model that the pattern chooses and the source has. Logs a report: what
// is taken from where, what keeps its initialiser and why, and what in the source is not taken. InvalidArgument, with
// all differences, if shapes or types differ and may not, for names in the settings that the model or the source lacks,
// and if the source has none of the chosen variables. Other errors as from CheckpointReader::Open and ReadVocabulary.
// With `whole_model` false, `variables` are not all of the model's, as in predictions: names that none of them has are
// only logged.
absl::StatusOr<TensorMap> ReadWarmStart(Env* env, const WarmStartSettings& settings,
                                        const std::vector<VariableSpec>& variables, const InitialValueFn& initial_value,
                                        bool whole_model = true);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_WARM_START_H_
