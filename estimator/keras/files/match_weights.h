// Which weight of a file is which of a model. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/keras/files/load_weights.h"
#include "estimator/keras/files/weight_file.h"
#include "frontends/keras/layer.h"
#include "frontends/keras/network.h"

namespace tandem::keras {

// Gives the weights of `model` the values of the file, all of them or after an error none. InvalidArgument lists what
// is missing, superfluous, of another shape and of another type, all at once. Values that are not finite are a warning.
absl::StatusOr<LoadReport> AssignFromFile(const NetworkImpl& model, const std::string& path, const WeightFile& file,
                                          const LoadWeightsOptions& options);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_MATCH_WEIGHTS_H_
