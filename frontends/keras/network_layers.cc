// The layers that represent a model's input and a whole model.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "frontends/keras/layer_config.h"
#include "frontends/keras/network.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {

InputLayerImpl::InputLayerImpl(std::string name, TensorSpec spec, SourceLocation loc)
    : LayerImpl({.class_name = "InputLayer", .name = std::move(name)}, loc), spec_(std::move(spec)) {}

absl::StatusOr<nlohmann::ordered_json> InputLayerImpl::Config() const {
  nlohmann::ordered_json config;
  config["batch_input_shape"] = ShapeToJson(spec_.shape);
  config["dtype"] = Name(spec_.dtype);
  config["sparse"] = false;
  config["ragged"] = false;
  return config;
}

KerasTensor InputTensor(const std::string& name, const TensorSpec& spec, SourceLocation loc) {
  auto call = std::make_shared<LayerCall>();
  call->layer = std::make_shared<InputLayerImpl>(name, spec, loc);
  call->outputs = {spec};
  call->loc = loc;
  return KerasTensor(std::move(call), 0);
}

KerasTensor Input(const InputOptions& options, SourceLocation loc) {
  const auto failed = [&](absl::string_view problem) {
    return KerasTensor(
        absl::InvalidArgumentError(absl::StrCat("keras::Input at ", loc.file, ":", loc.line, ": ", problem)));
  };
  for (int64_t size : options.shape) {
    if (size < 1) {
      return failed(absl::StrCat("`shape` is ", ShapeString(options.shape),
                                 ", and its sizes, without the batch, must be at least 1 and known"));
    }
  }
  if (options.dtype == DType::kInvalid || options.dtype == DType::kString || options.dtype == DType::kBFloat16) {
    return failed(absl::StrCat("`dtype` cannot be ", Name(options.dtype)));
  }
  Shape shape = {kBatch};
  shape.insert(shape.end(), options.shape.begin(), options.shape.end());
  const std::string name = options.name.empty() ? NextName("input", 1) : options.name;
  return InputTensor(name, {options.dtype, std::move(shape)}, loc);
}

void NetworkImpl::Connect(const KerasTensors& inputs, const KerasTensors& outputs) {
  absl::StatusOr<Network> network = Network::Create(inputs, outputs, location());
  if (network.ok()) {
    network_ = std::make_unique<const Network>(*std::move(network));
  } else {
    Fail(network.status()).IgnoreError();
  }
}

absl::Status NetworkImpl::Fail(absl::Status status) {
  if (error_.ok()) error_ = std::move(status);
  return error_;
}

void NetworkImpl::Add(const std::shared_ptr<LayerImpl>& layer, SourceLocation loc) {
  if (layer == nullptr) {
    Fail(absl::InvalidArgumentError(absl::StrCat("Add at ", loc.file, ":", loc.line, ": the layer is empty")))
        .IgnoreError();
    return;
  }
  for (const auto& other : added_) {
    if (other->name() != layer->name()) continue;
    Fail(absl::InvalidArgumentError(absl::StrCat(
             ToString(), ": ", other == layer ? "the layer is in it already: " : "two layers have one name: ",
             other->ToString(), other == layer ? "" : absl::StrCat(" and ", layer->ToString()),
             other == layer ? "; a Sequential has each layer once" : "; give one of them another, with .name")))
        .IgnoreError();
    return;
  }
  added_.push_back(layer);
  if (added_.size() == 1) {
    const auto* model = dynamic_cast<const NetworkImpl*>(layer.get());
    Shape shape = layer->input_shape();
    DType dtype = layer->class_name() != "Embedding" ? DType::kFloat32 : DType::kInt32;
    if (model != nullptr && model->connected() && model->network().inputs().size() == 1) {
      const KerasTensor& input = model->network().inputs()[0];
      shape.assign(input.shape().begin() + 1, input.shape().end());
      dtype = input.dtype();
    }
    if (shape.empty()) return;
    shape.insert(shape.begin(), kBatch);
    const KerasTensor input = InputTensor(absl::StrCat(layer->name(), "_input"), {dtype, shape}, loc);
    chain_ = {input, input};
  }
  if (chain_.empty()) return;  // BuildFor connects the layers when the input shape is known
  KerasTensors outputs = layer->Call(chain_[1], loc);
  if (absl::Status status = outputs[0].status(); !status.ok()) {
    Fail(std::move(status)).IgnoreError();
  } else if (outputs.size() != 1) {
    Fail(absl::InvalidArgumentError(
             absl::StrCat(ToString(), ": ", layer->ToString(), " has ", outputs.size(), " results, and one is needed")))
        .IgnoreError();
  } else {
    chain_[1] = outputs[0];
    Connect({chain_[0]}, {chain_[1]});
  }
}

absl::Status NetworkImpl::BuildFor(const TensorSpec& input, SourceLocation loc, const std::string& input_name) {
  if (network_ != nullptr || !error_.ok()) return error_;
  if (added_.empty()) return absl::InvalidArgumentError(absl::StrCat(ToString(), ": it has no layers"));
  const KerasTensor tensor =
      InputTensor(input_name.empty() ? absl::StrCat(added_[0]->name(), "_input") : input_name, input, loc);
  chain_ = {tensor, tensor};
  const std::vector<std::shared_ptr<LayerImpl>> layers = std::move(added_);
  added_.clear();
  for (const auto& layer : layers) {
    // For the first layer Add would require an input shape, so it is called here.
    if (added_.empty()) {
      added_.push_back(layer);
      chain_[1] = layer->Call(tensor, loc)[0];
      TD_RETURN_IF_ERROR(Fail(chain_[1].status()));
      Connect({chain_[0]}, {chain_[1]});
    } else {
      Add(layer, loc);
    }
  }
  return error_;
}

absl::Status NetworkImpl::status() const {
  if (!error_.ok() || network_ != nullptr) return error_;
  return absl::FailedPreconditionError(
      absl::StrCat(ToString(), added_.empty() ? " has no layers" : " does not know the shape of its input yet",
                   "; give its first layer .input_shape, or call it or Fit first"));
}

std::vector<std::shared_ptr<LayerImpl>> NetworkImpl::layers() const {
  if (is_sequential_model()) return added_;
  return network_ != nullptr ? network_->layers() : std::vector<std::shared_ptr<LayerImpl>>();
}

void NetworkImpl::set_trainable(bool trainable) {
  LayerImpl::set_trainable(trainable);
  for (const auto& layer : layers()) layer->set_trainable(trainable);
}

namespace {

// Returns the weight cells that cells_of(layer) returns for all layers, each cell only once.
template <typename CellsOf>
std::vector<std::shared_ptr<WeightCell>> CellsOfLayers(const NetworkImpl& network, CellsOf cells_of) {
  std::vector<std::shared_ptr<WeightCell>> cells;
  for (const auto& layer : network.layers()) {
    for (auto& cell : cells_of(*layer)) {
      if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace

std::vector<std::shared_ptr<WeightCell>> NetworkImpl::cells() const {
  return CellsOfLayers(*this, [](const LayerImpl& layer) { return layer.cells(); });
}

std::vector<std::shared_ptr<WeightCell>> NetworkImpl::ListedCells() const {
  return CellsOfLayers(*this, [](const LayerImpl& layer) { return layer.ListedCells(); });
}

int NetworkImpl::min_inputs() const { return network_ != nullptr ? static_cast<int>(network_->inputs().size()) : 1; }

std::vector<Tensor> NetworkImpl::Compute(CallContext& context) {
  const auto fail = [&](absl::Status status) -> std::vector<Tensor> {
    context.graph()->Fail(std::move(status));
    return {context.graph()->Poisoned()};
  };
  const TensorSpec input{context.x().dtype(), context.x().shape()};
  if (absl::Status status = BuildFor(input, context.loc()); !status.ok()) return fail(std::move(status));
  GraphCall call = context.call();
  call.prefix = absl::StrCat(call.prefix, name(), "/");
  absl::StatusOr<std::vector<Tensor>> outputs = network_->Replay(call, context.inputs());
  return outputs.ok() ? *std::move(outputs) : fail(outputs.status());
}

}  // namespace tandem::keras
