// Saves models for callbacks. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_
#define TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace tandem::keras {

class Model;

// Writes the model, or only its weights, in the format given by the ending of the path. Replaces an existing file and
// creates no folders.
using ModelSaver = std::function<absl::Status(Model& model, const std::string& path, bool weights_only)>;

// For tests of callbacks: sets the function that is called in place of Model::Save and Model::SaveWeights. Null means
// that these are called again.
void SetModelSaver(ModelSaver saver);
absl::Status SaveModelTo(Model& model, const std::string& path, bool weights_only);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_
