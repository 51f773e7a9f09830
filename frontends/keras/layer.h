// Layer: an object with weights that computes tensors from tensors, in as many models, graphs and modes as one likes.
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

  // "dense/kernel": the layer's name and the weight's.
  std::string name() const;
  const Shape& shape() const;
  DType dtype() const;
  // Whether optimizers change it: not a moving average, and its layer is trainable.
  bool trainable() const;
  // The newest value: what was assigned or trained last, or else the first value.
  absl::StatusOr<HostTensor> Value() const;
  // InvalidArgument names the weight and both shapes where they differ. What trains it next goes on from here.
  absl::Status Assign(const HostTensor& value) const;

  const std::shared_ptr<WeightCell>& cell() const { return cell_; }

 private:
  std::shared_ptr<WeightCell> cell_;
};

struct CallOptions {
  // Whether Dropout drops and BatchNormalization takes the batch's statistics. Nothing: as the graph is in mode train
  // or not.
  std::optional<bool> training = std::nullopt;
};

// A handle: copies are the same layer. The classes of frontends/keras/layers.h derive from it and add constructors
// only.
class Layer {
 public:
  // Of no layer; calling it is an error.
  Layer() = default;
  explicit Layer(std::shared_ptr<LayerImpl> impl) : impl_(std::move(impl)) {}

  // Of a layer with one result. The first call makes the weights; one that does not fit them later is an error that
  // names both places.
  KerasTensor operator()(const KerasTensor& x, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(std::initializer_list<KerasTensor> xs, SourceLocation loc = SourceLocation::Current()) const;
  KerasTensor operator()(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // Of a layer with several results.
  KerasTensors Outputs(const KerasTensors& xs, SourceLocation loc = SourceLocation::Current()) const;
  // In the graph of a model_fn. A layer without a name of its own that no model has called takes the graph's next one
  // ("dense", "dense_1") at its first call and keeps it.
  Tensor operator()(const Tensor& x, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;
  Tensor operator()(const std::vector<Tensor>& xs, const CallOptions& options = {},
                    SourceLocation loc = SourceLocation::Current()) const;

  // "dense_1"; "" of no layer.
  const std::string& name() const;
  // "Dense".
  const std::string& class_name() const;
  // Whether its weights are trained. It counts for graphs that are built, and models that are compiled, afterwards; of
  // a model it is that of all its layers.
  bool trainable() const;
  const Layer& set_trainable(bool trainable) const;

  // In the order of Keras: of a layer what is trained first, of a model one layer behind the other. Empty before the
  // first call.
  std::vector<Weight> weights() const;
  absl::StatusOr<HostTensors> GetWeights() const;
  // As many and with the shapes of weights(); InvalidArgument lists all differences, and nothing changes then.
  absl::Status SetWeights(const HostTensors& values) const;

  const std::shared_ptr<LayerImpl>& impl() const { return impl_; }
  bool operator==(const Layer& other) const { return impl_ == other.impl_; }

 protected:
  std::shared_ptr<LayerImpl> impl_;
};

// Layers without a name of their own are numbered from the start again: "dense", "dense_1".
void ClearSession();

namespace utils {

// Of the first values of weights that are made afterwards. 0 at first.
void SetRandomSeed(uint64_t seed);

}  // namespace utils
}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_H_
