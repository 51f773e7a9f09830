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

// One call of a layer on symbolic tensors of a model.
struct LayerCall {
  std::shared_ptr<LayerImpl> layer;
  KerasTensors inputs;  // empty if the call stands for an input of the model
  std::vector<TensorSpec> outputs;
  int number = 0;  // number of this call among all calls of the layer in the process
  SourceLocation loc;
};

using LayerCallPtr = std::shared_ptr<const LayerCall>;

class Network {
 public:
  // Returns InvalidArgument, with the user's lines, if there are no inputs or no outputs, no output depends on an
  // input, an output depends on an input that is missing, an input is the result of a layer, or two layers have the
  // same name.
  static absl::StatusOr<Network> Create(const KerasTensors& inputs, const KerasTensors& outputs, SourceLocation loc);

  const KerasTensors& inputs() const { return inputs_; }
  const KerasTensors& outputs() const { return outputs_; }
  // Layers in Keras' order: sorted by their greatest distance from an output, inputs first. At equal distance they are
  // in the order in which a search from the outputs finds them.
  const std::vector<std::shared_ptr<LayerImpl>>& layers() const { return layers_; }
  // All calls, each after the calls that compute its inputs.
  const std::vector<LayerCallPtr>& calls() const { return calls_; }
  // Returns the calls of `layer` in this network, in the order of their numbers.
  std::vector<LayerCallPtr> CallsOf(const LayerImpl* layer) const;
  // True if the layers form a chain: at each distance from the output there is one call with one input, and no layer is
  // called twice. summary() then prints no connections.
  bool is_sequential() const { return is_sequential_; }

  // Repeats all calls in a graph, with `inputs` in place of inputs().
  absl::StatusOr<std::vector<Tensor>> Replay(const GraphCall& call, const std::vector<Tensor>& inputs) const;

 private:
  KerasTensors inputs_, outputs_;
  std::vector<std::shared_ptr<LayerImpl>> layers_;
  std::vector<LayerCallPtr> calls_;
  bool is_sequential_ = true;
};

// The layer behind the tensor that keras::Input returns.
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

// Makes an input layer, as keras::Input does, and returns its tensor.
KerasTensor InputTensor(const std::string& name, const TensorSpec& spec, SourceLocation loc);

// Base class of data that code outside this file attaches to a network, such as how the model was compiled.
class NetworkExtension {
 public:
  virtual ~NetworkExtension() = default;
};

// A whole model in the role of a layer.
class NetworkImpl : public LayerImpl {
 public:
  // `naming.class_name` is "Functional" or "Sequential".
  NetworkImpl(LayerNaming naming, SourceLocation loc) : LayerImpl(std::move(naming), loc) {}

  // Makes the model from its inputs and outputs.
  void Connect(const KerasTensors& inputs, const KerasTensors& outputs);
  // For a Sequential: appends `layer`. If the first layer has an input shape, the network is built at once.
  void Add(const std::shared_ptr<LayerImpl>& layer, SourceLocation loc);
  // For a Sequential without an input shape: connects the layers now. `input_name` names the InputLayer; empty: the
  // first layer's name with "_input".
  absl::Status BuildFor(const TensorSpec& input, SourceLocation loc, const std::string& input_name = "");

  // Returns the first error of Connect and Add, or an error that says that the model has no network yet.
  absl::Status status() const;
  bool connected() const { return network_ != nullptr; }
  const Network& network() const { return *network_; }
  // The layers that summary() and Model::layers() list, which do not include the InputLayer of a Sequential.
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
  std::vector<std::shared_ptr<LayerImpl>> added_;  // the layers that Add has appended to a Sequential
  KerasTensors chain_;                             // of a Sequential: the input, and the output of the last layer
  absl::Status error_;
  std::shared_ptr<NetworkExtension> extension_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_NETWORK_H_
