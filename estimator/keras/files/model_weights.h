// The weights of a model, layer by layer, as files list them. Internal to estimator/keras.
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

// Weights that stand together in a file.
struct ModelLayer {
  std::string key;                                 // what files call it
  const LayerImpl* layer = nullptr;                // which it is, or is a part of
  std::vector<std::shared_ptr<WeightCell>> cells;  // in the file's order
};

// As model.save of Keras 2 has them: the model's layers by name, a nested model as one, trainable weights first.
std::vector<ModelLayer> LayersInOrder(const NetworkImpl& model);

// As .weights.h5 has them: "layers/conv2d", "layers/conv2d_1", "layers/sequential/layers/dense": by class, with a
// number that counts from the start in each model.
std::vector<ModelLayer> LayersByPath(const NetworkImpl& model);

// The names of Tandem's variables, "tower/dense/kernel".
using VariableNames = std::map<const WeightCell*, std::string>;
absl::StatusOr<VariableNames> VariableNamesOf(const NetworkImpl& model);

// Each weight by itself, under its variable's name.
std::vector<ModelLayer> LayersByVariable(const NetworkImpl& model, const VariableNames& names);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_MODEL_WEIGHTS_H_
