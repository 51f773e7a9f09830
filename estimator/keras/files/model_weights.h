// Lists the weights of a model, layer by layer, as files have them. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_MODEL_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_MODEL_WEIGHTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "frontends/keras/layer.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weight_cell.h"

namespace tandem::keras {

// Weights that a file has in one group.
struct ModelLayer {
  std::string key;  // the group's name in files
  // The layer itself or, if the weights are those of a part of a layer, the layer that has this part.
  const LayerImpl* layer = nullptr;
  std::vector<std::shared_ptr<WeightCell>> cells;  // the group's weights, in the file's order
};

// Returns the layers as model.save of Keras 2 lists them: by name, a nested model as one layer, trainable weights
// first.
std::vector<ModelLayer> LayersInOrder(const NetworkImpl& model);

// Returns the layers as .weights.h5 names them: "layers/conv2d", "layers/conv2d_1", "layers/sequential/layers/dense":
// by class, with a number that starts anew in each model.
std::vector<ModelLayer> LayersByPath(const NetworkImpl& model);

// The names of Tandem's variables, such as "tower/dense/kernel".
using VariableNames = std::map<const WeightCell*, std::string>;
absl::StatusOr<VariableNames> VariableNamesOf(const NetworkImpl& model);

// Returns each weight as a layer of its own, with the name of its variable.
std::vector<ModelLayer> LayersByVariable(const NetworkImpl& model, const VariableNames& names);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_MODEL_WEIGHTS_H_
