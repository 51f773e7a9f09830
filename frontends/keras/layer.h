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
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/keras/keras_tensor.h"
#include "tandem/graph/tensor.h"

namespace tandem::keras {

class LayerImpl;    // defined in frontends/keras/layer_impl.h
struct WeightCell;  // defined in frontends/keras/weight_cell.h

}  // namespace tandem::keras

namespace TANDEM_API tandem {
namespace keras {

// The values of weights.
using HostTensors = std::vector<HostTensor>;

// A handle of one weight (variable) of a layer.
class Weight {
 public:
  explicit Weight(std::shared_ptr<WeightCell> cell) : cell_(std::move(cell)) {}

  // Returns the layer's name and the weight's name: "dense/kernel".
  std::string name() const;

  const Shape& shape() const;
  DType dtype() const;
  // True if optimizers train the weight. False for moving averages, and for all weights of a layer that is not
  // trainable.
  bool trainable() const;
  // Returns the newest value: the one that was assigned or trained last, or the initial value if there was none.
  absl::StatusOr<HostTensor> Value() const;
  // Sets the value, from which later training continues. InvalidArgument, with the weight and both shapes, if the
  // shapes differ.
  absl::Status Assign(const HostTensor& value) const;

  const std::shared_ptr<WeightCell>& cell() const { return cell_; }

 private:
  std::shared_ptr<WeightCell> cell_;
};

struct CallOptions {
  // If true, Dropout drops elements and BatchNormalization uses the batch's statistics. nullopt means true in a graph
  // of mode train, and otherwise false.
  std::optional<bool> training = std::nullopt;
};

// A handle: copies refer to the same layer and weights. The classes of frontends/keras/layers.h derive from it and add
// only constructors.
class Layer {
 public:
  // A handle without a layer; calling it is an error.
  Layer() = default;
  explicit Layer(std::shared_ptr<LayerImpl> impl) : impl_(std::move(impl)) {}

  // Calls a layer with one result in a model under construction. The first call creates the weights. A later call whose
  // inputs do not fit these weights is an error that names the source lines of both calls.
  KerasTensor operator()(const KerasTensor& x, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(std::initializer_list<KerasTensor> xs, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // As above, for a layer with several results.
  KerasTensors Outputs(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // Calls the layer in the graph of a model_fn. A layer that the user did not name and that no model has called gets
  // the graph's next name ("dense", "dense_1") at its first call, and then keeps this name.
  Tensor operator()(const Tensor& x, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;
  Tensor operator()(const std::vector<Tensor>& xs, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // The name, such as "dense_1"; "" without a layer.
  const std::string& name() const;
  // Keras' class name, such as "Dense".
  const std::string& class_name() const;
  // True if optimizers train the layer's weights. A change affects only graphs that are built, and models that are
  // compiled, afterwards. Setting it for a model sets it for all layers of the model.
  bool trainable() const;
  // Sets it, and returns this layer.
  const Layer& set_trainable(bool trainable) const;

  // The weights in Keras' order: a layer's trainable weights first; a model's layers one after another. Empty before
  // the first call.
  std::vector<Weight> weights() const;
  // The newest values of weights(), in that order.
  absl::StatusOr<HostTensors> GetWeights() const;
  // Sets all weights, in the order of weights(). InvalidArgument, with all differences, if the number of values or
  // their shapes differ from those of weights(); then nothing changes.
  absl::Status SetWeights(const HostTensors& values) const;

  const std::shared_ptr<LayerImpl>& impl() const { return impl_; }
  bool operator==(const Layer& other) const { return impl_ == other.impl_; }

 protected:
  std::shared_ptr<LayerImpl> impl_;
};

// Restarts the numbering of default layer names: "dense", "dense_1".
void ClearSession();

namespace utils {

// Sets the seed for the initial values of weights that are created afterwards. It is 0 at first.
void SetRandomSeed(uint64_t seed);

}  // namespace utils
}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_H_
