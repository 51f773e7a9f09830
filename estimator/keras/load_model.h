// LoadModel: loads a model from a file, with its weights, its optimizer and the optimizer's state.
#ifndef TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
#define TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/estimator/keras/model.h"

namespace TANDEM_API tandem {
namespace keras {

struct LoadModelOptions {
  // Compile the model with the arguments that the file has, and begin with its optimizer's state. If the file has none,
  // the model is not compiled, and a line in the log says so.
  bool compile = true;
};

// Reads files written by Model::Save, and files of whole models by Keras 2.0 to 3: HDF5 and .keras. Code in files is
// never run, so only classes that Tandem has can be loaded: InvalidArgument lists all unknown classes of layers, and
// names an unknown loss, metric or optimizer. Other errors of the file are those of LoadWeights. If the optimizer's
// state does not fit, there is a warning, and the optimizer begins anew, as in Keras.
absl::StatusOr<Model> LoadModel(const std::string& path, const LoadModelOptions& options = {},
                                SourceLocation loc = SourceLocation::Current());

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_LOAD_MODEL_H_
