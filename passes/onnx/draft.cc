#include "passes/onnx/draft.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace tandem::onnx {

// Names the tensors and nodes of a draft that outputs depend on, and makes the model of them.
class Naming {
 public:
  Naming(const Draft& draft, const std::vector<Draft::Output>& outputs)
      : draft_(draft), needed_(draft.Needed(outputs)), names_(draft.tensors_.size()) {}

  // Names are unique, so a tensor whose name is taken gets a number appended. Inputs and outputs are named first, then
  // constants (among them variables, whose names users know), then results of nodes.
  absl::Status NameTensors(const std::vector<Draft::Output>& outputs) {
    for (size_t i = 0; i < draft_.inputs_.size(); ++i) {
      names_[draft_.inputs_[i]] = tensor_names_.Take(draft_.input_infos_[i].name);
    }
    for (const Draft::Output& output : outputs) TD_RETURN_IF_ERROR(NameOutput(output));
    for (size_t i = 0; i < names_.size(); ++i) {
      if (IsConstant(i) && needed_[i]) names_[i] = tensor_names_.Take(draft_.tensors_[i].name);
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      if (needed_[i] && names_[i].empty()) names_[i] = tensor_names_.Take(draft_.tensors_[i].name);
    }
    return absl::OkStatus();
  }

  Model MakeModel(const std::string& name, const std::vector<Draft::Output>& outputs) {
    Model model{.name = name, .inputs = draft_.input_infos_};
    for (size_t i = 0; i < names_.size(); ++i) {
      if (IsConstant(i) && needed_[i]) model.initializers.push_back({names_[i], draft_.tensors_[i].value});
    }
    for (const Draft::DraftNode& node : draft_.nodes_) {
      if (std::none_of(node.outputs.begin(), node.outputs.end(), [&](TensorId t) { return needed_[t]; })) continue;
      Node named{.name = node_names_.Take(node.name), .op_type = node.op_type, .attributes = node.attributes};
      for (TensorId t : node.inputs) named.inputs.push_back(names_[t]);
      for (TensorId t : node.outputs) {
        named.outputs.push_back(names_[t].empty() ? tensor_names_.Take(draft_.tensors_[t].name) : names_[t]);
      }
      model.nodes.push_back(std::move(named));
    }
    for (const auto& [tensor, output] : copies_) {
      model.nodes.push_back(
          {.name = node_names_.Take(output), .op_type = "Identity", .inputs = {names_[tensor]}, .outputs = {output}});
    }
    for (const Draft::Output& output : outputs) model.outputs.push_back(output.info);
    return model;
  }

 private:
  // Makes names unique by appending numbers.
  class UniqueNames {
   public:
    // Returns `name`, or if it is taken the first free one of name_1, name_2, ...
    std::string Take(const std::string& name) {
      if (taken_.insert(name).second) return name;
      for (int& i = next_[name];;) {
        std::string numbered = absl::StrCat(name, "_", ++i);
        if (taken_.insert(numbered).second) return numbered;
      }
    }

   private:
    std::set<std::string> taken_;
    std::map<std::string, int> next_;
  };

  bool IsConstant(size_t i) const { return draft_.tensors_[i].node < 0 && !draft_.tensors_[i].value.empty(); }

  absl::Status NameOutput(const Draft::Output& output) {
    std::string& name = names_[output.tensor];
    if (name == output.info.name) return absl::OkStatus();  // the output is an input of the same name
    if (tensor_names_.Take(output.info.name) != output.info.name) {
      return absl::InvalidArgumentError(
          absl::StrCat("the prediction \"", output.info.name,
                       "\" is called like an input, and names of an ONNX model's tensors differ; give the prediction "
                       "or the feature another name"));
    }
    if (draft_.tensors_[output.tensor].node >= 0 && name.empty()) {
      name = output.info.name;
    } else {
      copies_.push_back({output.tensor, output.info.name});
    }
    return absl::OkStatus();
  }

  const Draft& draft_;
  const std::vector<bool> needed_;
  std::vector<std::string> names_;                        // name of each tensor; "" if it has none yet
  std::vector<std::pair<TensorId, std::string>> copies_;  // tensors, and the names of outputs that copy them
  UniqueNames tensor_names_, node_names_;
};

TensorId Draft::Add(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors_.size()) - 1;
}

TensorId Draft::AddInput(const ValueInfo& info) {
  input_infos_.push_back(info);
  inputs_.push_back(Add({.name = info.name}));
  return inputs_.back();
}

TensorId Draft::AddConstant(const std::string& name, const HostTensor& value) {
  return Add({.name = name, .value = value});
}

TensorId Draft::AddNumbers(const std::string& name, const HostTensor& value) {
  const absl::string_view bytes(static_cast<const char*>(value.raw()), value.byte_size());
  const std::string key = absl::StrCat(Name(value.dtype()), ShapeString(value.shape()), ":", bytes);
  const auto [entry, is_new] = numbers_.emplace(key, 0);
  if (is_new) entry->second = AddConstant(name, value);
  return entry->second;
}

std::vector<TensorId> Draft::AddNode(const std::string& name, const std::string& op_type, std::vector<TensorId> inputs,
                                     std::vector<Attribute> attributes, int outputs) {
  DraftNode node{.name = name, .op_type = op_type, .inputs = std::move(inputs), .attributes = std::move(attributes)};
  for (int i = 0; i < outputs; ++i)
    node.outputs.push_back(Add({.name = name, .node = static_cast<int>(nodes_.size())}));
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

void Draft::Rename(TensorId tensor, const std::string& name) {
  const int node = tensors_[tensor].node;
  if (node < 0) return;
  tensors_[tensor].name = name;
  nodes_[node].name = name;
}

std::vector<bool> Draft::Needed(const std::vector<Output>& outputs) const {
  std::vector<bool> needed(tensors_.size(), false);
  for (const Output& output : outputs) needed[output.tensor] = true;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (std::none_of(node->outputs.begin(), node->outputs.end(), [&](TensorId t) { return needed[t]; })) continue;
    for (TensorId t : node->inputs) needed[t] = true;
  }
  return needed;
}

absl::StatusOr<Model> Draft::Finish(const std::string& name, const std::vector<Output>& outputs) const {
  Naming naming(*this, outputs);
  TD_RETURN_IF_ERROR(naming.NameTensors(outputs));
  return naming.MakeModel(name, outputs);
}

}  // namespace tandem::onnx
