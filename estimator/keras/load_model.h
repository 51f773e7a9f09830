// LoadModel: loads a model from a file, with its weights, its optimizer and the optimizer's state.
#ifndef TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
#define TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "estimator/keras/model.h"

namespace tandem::keras {

struct LoadModelOptions {
  // Compile the model as the file says, and go on from the optimizer's state. If the file does not say how, the model
  // is not compiled, and a line in the log says so.
  bool compile = true;
};

// Reads files written by Model::Save, and files of whole models by Keras 2.0 to 3: HDF5 and .keras. Files bring no
// code: InvalidArgument lists all unknown classes of layers, and says which loss, metric or optimizer is unknown. Other
// errors of the file are those of LoadWeights. If the optimizer's state does not fit, warns, and the optimizer begins
// anew, as in Keras.
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadModelOptions& options = {},
                                SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
