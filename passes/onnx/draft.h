// Draft: an ONNX graph while it is made. Its tensors are numbers until the end, when what no output needs is left out
// and the rest gets names. So a translator may make more than is wanted, and names are those of what stays.
#ifndef TANDEM_PASSES_ONNX_DRAFT_H_
#define TANDEM_PASSES_ONNX_DRAFT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "passes/onnx/model.h"

namespace tandem::onnx {

using TensorId = int;

class Draft {
 public:
  // An output of the model and the tensor that it is.
  struct Output {
    ValueInfo info;
    TensorId tensor;
  };

  TensorId AddInput(const ValueInfo& info);
  // The tensor is called `name`, with a number behind it if another one is called so.
  TensorId AddConstant(const std::string& name, const HostTensor& value);
  // The same for numbers of the graph's own, such as shapes: equal ones are one tensor.
  TensorId AddNumbers(const std::string& name, const HostTensor& value);
  // Appends a node and returns its outputs.
  std::vector<TensorId> AddNode(const std::string& name, const std::string& op_type, std::vector<TensorId> inputs,
                                std::vector<Attribute> attributes, int outputs);
  // Names the node that makes the tensor, and the tensor, anew. Inputs and constants keep their names.
  void Rename(TensorId tensor, const std::string& name);

  const std::vector<TensorId>& inputs() const { return inputs_; }
  // The number of tensors so far, and of the next one.
  TensorId size() const { return static_cast<TensorId>(tensors_.size()); }

  // Returns the model. An output that is an input, a constant or another output is a copy of it. InvalidArgument if an
  // output is called like an input that is another tensor.
  absl::StatusOr<Model> Finish(const std::string& name, const std::vector<Output>& outputs) const;

 private:
  friend class Naming;
  struct Tensor {
    std::string name;  // as asked for
    int node = -1;     // that makes it; -1 for inputs and constants
    HostTensor value;  // of a constant
  };
  struct DraftNode {
    std::string name, op_type;
    std::vector<TensorId> inputs, outputs;
    std::vector<Attribute> attributes;
  };

  TensorId Add(Tensor tensor);
  // Whether the outputs need each tensor.
  std::vector<bool> Needed(const std::vector<Output>& outputs) const;

  std::vector<Tensor> tensors_;
  std::vector<DraftNode> nodes_;
  std::vector<ValueInfo> input_infos_;
  std::vector<TensorId> inputs_;
  std::map<std::string, TensorId> numbers_;  // by type, shape and bytes
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_DRAFT_H_
