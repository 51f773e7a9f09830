// Draft: an ONNX graph under construction, whose tensors are identified by numbers. Finish leaves out the nodes that no
// output depends on and names the rest. So translators may add nodes that turn out to be unused.
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
  // An output of the model: its name, type and shape, and the tensor that it is.
  struct Output {
    ValueInfo info;
    TensorId tensor;
  };

  TensorId AddInput(const ValueInfo& info);
  // Adds a constant. Its tensor is called `name`, with a number appended if another tensor has that name.
  TensorId AddConstant(const std::string& name, const HostTensor& value);
  // Adds a constant that the user has not named, such as a shape. Equal constants of this kind become one tensor.
  TensorId AddNumbers(const std::string& name, const HostTensor& value);
  // Appends a node and returns its outputs.
  std::vector<TensorId> AddNode(const std::string& name, const std::string& op_type, std::vector<TensorId> inputs,
                                std::vector<Attribute> attributes, int outputs);
  // Renames the tensor and the node that computes it. Inputs and constants keep their names.
  void Rename(TensorId tensor, const std::string& name);

  const std::vector<TensorId>& inputs() const { return inputs_; }
  // The number of tensors so far, which is also the number that identifies the next one.
  TensorId size() const { return static_cast<TensorId>(tensors_.size()); }

  // Returns the model. If an output is an input, a constant or another output, an Identity node copies that tensor.
  // InvalidArgument if an output has the name of an input that is another tensor.
  absl::StatusOr<Model> Finish(const std::string& name, const std::vector<Output>& outputs) const;

 private:
  friend class Naming;
  struct Tensor {
    std::string name;  // as requested; Finish makes it unique
    int node = -1;     // number of the node that computes the tensor; -1 for inputs and constants
    HostTensor value;  // elements of a constant; empty for other tensors
  };
  struct DraftNode {
    std::string name, op_type;
    std::vector<TensorId> inputs, outputs;
    std::vector<Attribute> attributes;
  };

  TensorId Add(Tensor tensor);
  // Returns for each tensor whether `outputs` depend on it.
  std::vector<bool> Needed(const std::vector<Output>& outputs) const;

  std::vector<Tensor> tensors_;
  std::vector<DraftNode> nodes_;
  std::vector<ValueInfo> input_infos_;
  std::vector<TensorId> inputs_;
  std::map<std::string, TensorId> numbers_;  // the tensors of AddNumbers by type, shape and bytes
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_DRAFT_H_
