// How callbacks save models. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_
#define TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace tandem::keras {

class Model;

// Writes the model, or only its weights, in the format that the end of the path says. It replaces the file and makes no
// folders.
using ModelSaver = std::function<absl::Status(Model& model, const std::string& path, bool weights_only)>;

// For tests of callbacks: what saves in place of Model::Save and Model::SaveWeights; null: these.
void SetModelSaver(ModelSaver saver);
absl::Status SaveModelTo(Model& model, const std::string& path, bool weights_only);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_MODEL_SAVER_H_
