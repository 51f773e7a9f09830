// Layer: an object with weights that computes tensors from tensors, usable in several models, graphs and modes.
//
//   keras::layers::Dense encoder(64, {.activation = "relu"});
//   auto a = encoder(left), b = encoder(right);   // of a model that is put together: the same weights twice
//   Tensor y = encoder(features["x"]);            // in a model_fn
#ifndef TANDEM_FRONTENDS_KERAS_LAYER_H_
#define TANDEM_FRONTENDS_KERAS_LAYER_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "frontends/keras/keras_tensor.h"
#include "graph/tensor.h"

namespace tandem::keras {

class LayerImpl;    // frontends/keras/layer_impl.h
struct WeightCell;  // frontends/keras/weight_cell.h

using HostTensors = std::vector<HostTensor>;

// One weight of a layer: a handle.
class Weight {
 public:
  explicit Weight(std::shared_ptr<WeightCell> cell) : cell_(std::move(cell)) {}

  // Names of the layer and the weight: "dense/kernel".
  std::string name() const;
  const Shape& shape() const;
  DType dtype() const;
  // True if optimizers change it: it is not a moving average, and its layer is trainable.
  bool trainable() const;
  // The newest value: the last one that was assigned or trained, or else the first value.
  absl::StatusOr<HostTensor> Value() const;
  // Sets the value; later training continues from it. InvalidArgument, with the weight and both shapes, if they differ.
  absl::Status Assign(const HostTensor& value) const;

  const std::shared_ptr<WeightCell>& cell() const { return cell_; }

 private:
  std::shared_ptr<WeightCell> cell_;
};

struct CallOptions {
  // Decides whether Dropout drops elements and BatchNormalization uses the batch's statistics. nullopt: true in a graph
  // of mode train.
  std::optional<bool> training = std::nullopt;
};

// A handle: copies are the same layer. The classes of frontends/keras/layers.h derive from it and add only
// constructors.
class Layer {
 public:
  // A handle without a layer; calling it is an error.
  Layer() = default;
  explicit Layer(std::shared_ptr<LayerImpl> impl) : impl_(std::move(impl)) {}

  // Calls a layer with one result. The first call makes the weights; a later call that does not fit them is an error
  // with the places of both calls.
  KerasTensor operator()(const KerasTensor& x, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(std::initializer_list<KerasTensor> xs, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // Calls a layer with several results.
  KerasTensors Outputs(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // Calls the layer in the graph of a model_fn. At its first call, a layer that the user did not name and no model has
  // called takes the graph's next name ("dense", "dense_1"), and keeps it.
  Tensor operator()(const Tensor& x, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;
  Tensor operator()(const std::vector<Tensor>& xs, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // Such as "dense_1"; "" without a layer.
  const std::string& name() const;
  // Such as "Dense".
  const std::string& class_name() const;
  // True if its weights are trained. A change affects graphs that are built, and models that are compiled, afterwards;
  // setting it for a model sets it for all its layers.
  bool trainable() const;
  const Layer& set_trainable(bool trainable) const;

  // The weights in Keras' order: a layer's trainable weights first; a model's layers one after another. Empty before
  // the first call.
  std::vector<Weight> weights() const;
  absl::StatusOr<HostTensors> GetWeights() const;
  // Sets as many values as weights(), with the same shapes; InvalidArgument, with all differences, otherwise, and then
  // nothing changes.
  absl::Status SetWeights(const HostTensors& values) const;

  const std::shared_ptr<LayerImpl>& impl() const { return impl_; }
  bool operator==(const Layer& other) const { return impl_ == other.impl_; }

 protected:
  std::shared_ptr<LayerImpl> impl_;
};

// Restarts the numbering of layers without names of their own: "dense", "dense_1".
void ClearSession();

namespace utils {

// Seed for the first values of weights that are made afterwards. Initially 0.
void SetRandomSeed(uint64_t seed);

}  // namespace utils
}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_H_
