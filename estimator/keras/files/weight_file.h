// The weights that a file has, whatever its layout. Internal to estimator/keras.
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
  std::string name;   // as the file lists it: "dense/kernel:0"
  std::string where;  // "weights.h5: /dense/dense/kernel:0", for messages
  Shape shape;
  // The values as this type, or why they are none.
  std::function<absl::StatusOr<HostTensor>(DType)> read;
};

struct FileLayer {
  std::string name;  // a layer's ("dense"), or a path ("layers/dense") or a variable's name, by the layout
  std::vector<FileWeight> weights;
  std::string layer_name = "";  // of the layer that a path leads to, where the file says it, as Keras 3's do
};

enum class WeightLayout : int8_t {
  kByLayer,     // Keras 2's HDF5, also of Keras 3: a group for each layer
  kByPath,      // .weights.h5
  kByVariable,  // .safetensors
};

// An open file. Its weights are read when they are asked for.
struct WeightFile {
  WeightLayout layout = WeightLayout::kByLayer;
  std::vector<FileLayer> layers;
  // The optimizer's state in the file's order; empty where there is none.
  std::vector<FileWeight> optimizer;
  // Of a file of a whole model: {"class_name": ..., "config": ...}, and what it was compiled with. Nothing where the
  // file has none.
  std::optional<nlohmann::ordered_json> model_config, training_config;
};

// Reads .keras, .safetensors and HDF5 files. Errors: of the file's format, with its place; InvalidArgument where it is
// no file of weights; Unimplemented for what is not read: weights in several files, and by Keras 1 or Theano.
absl::StatusOr<WeightFile> ReadWeightFile(const std::string& path);

// The layers of `root`, a file or its group "model_weights", in Keras 2's layout, and back.
absl::StatusOr<std::vector<FileLayer>> ReadLayerGroups(const Hdf5Group& root);
// A list of weights: the names in "weight_names", which are paths from `group` on.
absl::StatusOr<std::vector<FileWeight>> ReadNamedWeights(const Hdf5Group& group);
// The groups "vars" of .weights.h5: below "layers", or in a file of a model that is a class of its own, below the names
// of its members.
absl::StatusOr<std::vector<FileLayer>> ReadVariableGroups(const Hdf5Group& root);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_WEIGHT_FILE_H_
