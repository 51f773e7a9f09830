// Network: the calls of layers between a model's inputs and outputs. Internal to the Keras frontend.
#ifndef TANDEM_FRONTENDS_KERAS_NETWORK_H_
#define TANDEM_FRONTENDS_KERAS_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "frontends/keras/keras_tensor.h"
#include "frontends/keras/layer_impl.h"
#include "graph/tensor.h"

namespace tandem::keras {

// A layer that was called on KerasTensors.
struct LayerCall {
  std::shared_ptr<LayerImpl> layer;
  KerasTensors inputs;  // none: an input of the model
  std::vector<TensorSpec> outputs;
  int number = 0;  // among the calls of this layer in the process
  SourceLocation loc;
};

using LayerCallPtr = std::shared_ptr<const LayerCall>;

class Network {
 public:
  // InvalidArgument, with the user's lines: no inputs or outputs, an input that no output depends on, an output that
  // needs an input that is not given, an input that is the result of a layer, two layers of one name.
  static absl::StatusOr<Network> Create(const KerasTensors& inputs, const KerasTensors& outputs, SourceLocation loc);

  const KerasTensors& inputs() const { return inputs_; }
  const KerasTensors& outputs() const { return outputs_; }
  // Keras' order: by the greatest distance from an output, inputs first, then as a search from the outputs meets them.
  const std::vector<std::shared_ptr<LayerImpl>>& layers() const { return layers_; }
  // The calls in an order in which each comes behind those that it takes, and their depths.
  const std::vector<LayerCallPtr>& calls() const { return calls_; }
  // Those of `layer` within this network, in the order of their numbers.
  std::vector<LayerCallPtr> CallsOf(const LayerImpl* layer) const;
  // Whether every depth has one call with one input, and no layer is called twice: what summary() prints without
  // connections.
  bool is_sequential() const { return is_sequential_; }

  // All calls again, in a graph, with `inputs` for inputs().
  absl::StatusOr<std::vector<Tensor>> Replay(const GraphCall& call, const std::vector<Tensor>& inputs) const;

 private:
  KerasTensors inputs_, outputs_;
  std::vector<std::shared_ptr<LayerImpl>> layers_;
  std::vector<LayerCallPtr> calls_;
  bool is_sequential_ = true;
};

// The layer of keras::Input.
class InputLayerImpl : public LayerImpl {
 public:
  InputLayerImpl(std::string name, TensorSpec spec, SourceLocation loc);
  const TensorSpec& spec() const { return spec_; }
  absl::StatusOr<nlohmann::ordered_json> Config() const override;

 protected:
  std::vector<Tensor> Compute(CallContext& context) override { return context.inputs(); }

 private:
  TensorSpec spec_;
};

// The tensor of an input layer, as Input returns it.
KerasTensor InputTensor(const std::string& name, const TensorSpec& spec, SourceLocation loc);

// What belongs to a network and is not known here: how it was compiled.
class NetworkExtension {
 public:
  virtual ~NetworkExtension() = default;
};

// A model as a layer.
class NetworkImpl : public LayerImpl {
 public:
  // `class_name`: "Functional" or "Sequential".
  NetworkImpl(LayerNaming naming, SourceLocation loc) : LayerImpl(std::move(naming), loc) {}

  // A model of inputs and outputs.
  void Connect(const KerasTensors& inputs, const KerasTensors& outputs);
  // Sequential: puts `layer` behind the others. Where the first has an input shape, the network is there at once.
  void Add(const std::shared_ptr<LayerImpl>& layer, SourceLocation loc);
  // Sequential without an input shape: connects the layers now.
  // `input_name`: of the InputLayer; empty: that of the first layer with "_input".
  absl::Status BuildFor(const TensorSpec& input, SourceLocation loc, const std::string& input_name = "");

  // The first error of Connect and Add, or that there is no network yet.
  absl::Status status() const;
  bool connected() const { return network_ != nullptr; }
  const Network& network() const { return *network_; }
  // Those that summary() and Model::layers() show: a Sequential has no InputLayer.
  std::vector<std::shared_ptr<LayerImpl>> layers() const;
  const std::shared_ptr<NetworkExtension>& extension() const { return extension_; }
  void set_extension(std::shared_ptr<NetworkExtension> extension) { extension_ = std::move(extension); }
  bool is_sequential_model() const { return class_name() == "Sequential"; }

  void set_trainable(bool trainable) override;
  std::vector<std::shared_ptr<WeightCell>> cells() const override;
  std::vector<std::shared_ptr<WeightCell>> ListedCells() const override;
  absl::StatusOr<nlohmann::ordered_json> Config() const override;

 protected:
  std::vector<Tensor> Compute(CallContext& context) override;
  int min_inputs() const override;
  int max_inputs() const override { return min_inputs(); }

 private:
  absl::Status Fail(absl::Status status);

  std::unique_ptr<const Network> network_;
  std::vector<std::shared_ptr<LayerImpl>> added_;  // of a Sequential
  KerasTensors chain_;                             // of a Sequential: its input, and the newest layer's output
  absl::Status error_;
  std::shared_ptr<NetworkExtension> extension_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_NETWORK_H_
