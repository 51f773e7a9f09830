#include "frontends/keras/network.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace tandem::keras {
namespace {

std::string LineOf(SourceLocation loc) { return absl::StrCat(loc.file, ":", loc.line); }

// Collects the layer calls on which the outputs depend, each call after the calls that compute its inputs, and the
// layers in the order in which the search finds them.
class Search {
 public:
  explicit Search(const std::set<const LayerCall*>& inputs) : inputs_(inputs) {}

  // Visits the calls from `root` back to the model's inputs. The search is not recursive, so that deep models do not
  // need a deep stack.
  void Visit(const LayerCallPtr& root) {
    std::vector<std::pair<LayerCallPtr, size_t>> path;
    const auto enter = [&](const LayerCallPtr& call) {
      if (!seen_.insert(call.get()).second) return;
      if (order_of_layer_.emplace(call->layer.get(), order_of_layer_.size()).second) layers_.push_back(call->layer);
      path.emplace_back(call, 0);
    };
    enter(root);
    while (!path.empty()) {
      auto& [call, next] = path.back();
      if (inputs_.contains(call.get()) || next == call->inputs.size()) {
        calls_.push_back(call);
        path.pop_back();
      } else {
        enter(LayerCallPtr(call->inputs[next++].call()));
      }
    }
  }

  const std::vector<LayerCallPtr>& calls() const { return calls_; }
  const std::vector<std::shared_ptr<LayerImpl>>& layers() const { return layers_; }

 private:
  const std::set<const LayerCall*>& inputs_;
  std::set<const LayerCall*> seen_;
  std::map<const LayerImpl*, size_t> order_of_layer_;
  std::vector<LayerCallPtr> calls_;
  std::vector<std::shared_ptr<LayerImpl>> layers_;
};

absl::Status CheckNames(const std::vector<std::shared_ptr<LayerImpl>>& layers) {
  std::map<std::string, const LayerImpl*> by_name;
  for (const auto& layer : layers) {
    const auto [it, fresh] = by_name.emplace(layer->name(), layer.get());
    if (fresh) continue;
    return absl::InvalidArgumentError(absl::StrCat("two layers have the name \"", layer->name(),
                                                   "\": ", it->second->ToString(), " and ", layer->ToString(),
                                                   "; give one of them another, with .name"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Network> Network::Create(const KerasTensors& inputs, const KerasTensors& outputs, SourceLocation loc) {
  const std::string where = absl::StrCat("the model at ", LineOf(loc), ": ");
  for (const KerasTensors* tensors : {&inputs, &outputs}) {
    if (tensors->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(where, "it has no ", tensors == &inputs ? "inputs" : "outputs"));
    }
    for (const KerasTensor& tensor : *tensors) TD_RETURN_IF_ERROR(tensor.status());
  }
  std::set<const LayerCall*> input_calls;
  for (const KerasTensor& input : inputs) {
    if (!input.call()->inputs.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(where, "the input ", input.ToString(),
                                                     " is the result of a layer; inputs come from keras::Input"));
    }
    if (!input_calls.insert(input.call().get()).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, "the input ", input.ToString(), " is there twice"));
    }
  }
  Search search(input_calls);
  for (const KerasTensor& output : outputs) search.Visit(output.call());
  for (const LayerCallPtr& call : search.calls()) {
    if (!call->inputs.empty() || input_calls.erase(call.get()) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(where, "an output needs the input ", KerasTensor(call, 0).ToString(),
                                                   ", which is not among its inputs"));
  }
  if (!input_calls.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(where, "no output depends on the input ",
                                                   (*input_calls.begin())->layer->ToString(), "; leave it out"));
  }

  // Distances from the outputs. A layer has the greatest distance of its calls, and each call then has the distance of
  // its layer.
  std::map<const LayerImpl*, int> layer_depth;
  std::map<const LayerCall*, int> call_depth;
  for (auto it = search.calls().rbegin(); it != search.calls().rend(); ++it) {
    const LayerCall& call = **it;
    int& depth = call_depth[&call];
    int& of_layer = layer_depth[call.layer.get()];
    depth = of_layer = std::max(depth, of_layer);
    for (const KerasTensor& input : call.inputs) {
      int& below = call_depth[input.call().get()];
      below = std::max(below, depth + 1);
    }
  }
  Network network;
  network.inputs_ = inputs;
  network.outputs_ = outputs;
  network.layers_ = search.layers();
  std::stable_sort(network.layers_.begin(), network.layers_.end(),
                   [&](const auto& a, const auto& b) { return layer_depth.at(a.get()) > layer_depth.at(b.get()); });
  network.calls_ = search.calls();
  std::stable_sort(network.calls_.begin(), network.calls_.end(),
                   [&](const auto& a, const auto& b) { return call_depth.at(a.get()) > call_depth.at(b.get()); });
  std::set<int> depths;
  std::set<const LayerImpl*> called;
  for (const LayerCallPtr& call : network.calls_) {
    if (!depths.insert(call_depth.at(call.get())).second || call->inputs.size() > 1 ||
        !called.insert(call->layer.get()).second) {
      network.is_sequential_ = false;
    }
  }
  TD_RETURN_IF_ERROR(Annotate(CheckNames(network.layers_), where));
  return network;
}

std::vector<LayerCallPtr> Network::CallsOf(const LayerImpl* layer) const {
  std::vector<LayerCallPtr> calls;
  for (const LayerCallPtr& call : calls_) {
    if (call->layer.get() == layer) calls.push_back(call);
  }
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  return calls;
}

absl::StatusOr<std::vector<Tensor>> Network::Replay(const GraphCall& call, const std::vector<Tensor>& inputs) const {
  std::map<const LayerCall*, std::vector<Tensor>> values;
  for (size_t i = 0; i < inputs_.size(); ++i) values[inputs_[i].call().get()] = {inputs[i]};
  const auto value_of = [&](const KerasTensor& tensor) { return values.at(tensor.call().get())[tensor.index()]; };
  for (const LayerCallPtr& node : calls_) {
    if (values.contains(node.get())) continue;
    std::vector<Tensor> operands;
    for (const KerasTensor& input : node->inputs) operands.push_back(value_of(input));
    GraphCall in = call;
    in.loc = node->loc;
    TD_ASSIGN_OR_RETURN(values[node.get()], node->layer->CallIn(in, operands));
  }
  std::vector<Tensor> results;
  for (const KerasTensor& output : outputs_) results.push_back(value_of(output));
  return results;
}

}  // namespace tandem::keras
