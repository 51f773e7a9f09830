// Reads the weights of a file, whatever its layout. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_WEIGHT_FILE_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_WEIGHT_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "data/files/hdf5_tree.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {

struct FileWeight {
  std::string name;   // the weight's name in the file: "dense/kernel:0"
  std::string where;  // file and path for messages: "weights.h5: /dense/dense/kernel:0"
  Shape shape;
  // Returns the values as a tensor of this type, or the error of reading them.
  std::function<absl::StatusOr<HostTensor>(DType)> read;
};

struct FileLayer {
  std::string name;  // depends on the layout: a layer's name ("dense"), a path ("layers/dense"), or a variable's name
  std::vector<FileWeight> weights;
  std::string layer_name = "";  // the name of the layer at a path; empty if the file lacks it: files of Keras 3 have it
};

enum class WeightLayout : int8_t {
  kByLayer,     // HDF5 of Keras 2 and 3: a group for each layer
  kByPath,      // .weights.h5: a path for each layer
  kByVariable,  // .safetensors: a name for each variable
};

// An open file. The values of its weights are read when FileWeight::read is called.
struct WeightFile {
  WeightLayout layout = WeightLayout::kByLayer;
  std::vector<FileLayer> layers;
  // The optimizer's state in the file's order; empty if the file has none.
  std::vector<FileWeight> optimizer;
  // From a file of a whole model: its layers as {"class_name": ..., "config": ...}, and the arguments of Compile. Not
  // set if the file does not have them.
  std::optional<nlohmann::ordered_json> model_config, training_config;
};

// Reads .keras, .safetensors and HDF5 files. Errors: those of the file's format, with the place; InvalidArgument for a
// file that has no weights; Unimplemented for weights in several files, and for files of Keras 1 or Theano.
absl::StatusOr<WeightFile> ReadWeightFile(const std::string& path);

// Reads layers in Keras 2's layout. `root` is the root of a weights file, or the group "model_weights" of a model file.
absl::StatusOr<std::vector<FileLayer>> ReadLayerGroups(const Hdf5Group& root);
// Reads a list of weights: "weight_names" has their names, which are paths relative to `group`.
absl::StatusOr<std::vector<FileWeight>> ReadNamedWeights(const Hdf5Group& group);
// Reads the groups "vars" of .weights.h5. They are under "layers" or, if the model is a class of its own, under the
// names of its members.
absl::StatusOr<std::vector<FileLayer>> ReadVariableGroups(const Hdf5Group& root);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_WEIGHT_FILE_H_
