// Matches the weights of a file with those of a model. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/keras/files/load_weights.h"
#include "estimator/keras/files/weight_file.h"
#include "frontends/keras/layer.h"
#include "frontends/keras/network.h"

namespace tandem::keras {

// Sets the weights of `model` to the values of the file: all of them or, after an error, none. InvalidArgument lists
// all missing and superfluous weights and all of another shape or type. Warns about values that are not finite.
absl::StatusOr<LoadReport> AssignFromFile(const NetworkImpl& model, const std::string& path, const WeightFile& file,
                                          const LoadWeightsOptions& options);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_
