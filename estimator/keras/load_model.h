// LoadModel: a model from a file, with its weights, optimizer and that one's state.
#ifndef TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
#define TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "estimator/keras/model.h"

namespace tandem::keras {

struct LoadModelOptions {
  // Compiles the model with what the file says, and goes on from the optimizer's state; a file without that gives a
  // model that is not compiled, with a line in the log.
  bool compile = true;
};

// Reads what Model::Save writes, and files of whole models by Keras 2.0 to 3: HDF5 and .keras. A file brings no code:
// InvalidArgument lists all classes of layers that are not known, and says which loss, metric or optimizer is not.
// Errors of the file are those of LoadWeights. A state of the optimizer that does not fit is a warning, and the
// optimizer begins anew, as in Keras.
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadModelOptions& options = {},
                                SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
