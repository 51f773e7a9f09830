// Lowering: records which tensors of an ONNX graph hold the values of a td graph. Translators of ops (translators.h)
// read and extend it.
//
// ONNX's image ops work on [b, c, h, w] (channels first), td's on [b, h, w, c] (channels last). A value has a tensor in
// the layout in which its ONNX op computes it, and is transposed when another op needs the other layout. Elementwise
// ops use the layout of their operands, so images stay channels first from one convolution to the next. A td.broadcast
// becomes a node only for ops that need its elements, since ONNX's elementwise ops broadcast their operands themselves.
#ifndef TANDEM_PASSES_ONNX_LOWERING_H_
#define TANDEM_PASSES_ONNX_LOWERING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/host_tensor.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "passes/onnx/draft.h"
#include "passes/onnx/translate_options.h"
#include "passes/translation/values.h"

namespace tandem::onnx {

enum class Layout {
  kChannelsLast,   // as in td: [b, ..., c]
  kChannelsFirst,  // [b, c, ...]; the same as td's for values with fewer than three dimensions
};

using translation::ElementTypeOf;
using translation::NumberOf;
using translation::ShapeOf;

// The format's name in errors.
inline constexpr char kFormat[] = "ONNX";

std::vector<int64_t> ToNumbers(llvm::ArrayRef<int64_t> numbers);

// Returns the order of a value's dimensions in a layout: dimension i of the tensor is dimension order[i] of the value.
std::vector<int64_t> OrderOf(Layout layout, int64_t rank);

class Lowering {
 public:
  struct NamedConstant {
    std::string name;
    HostTensor value;
  };

  Lowering(Draft& draft, const TranslateOptions& options) : draft_(draft), options_(options) {}

  const TranslateOptions& options() const { return options_; }

  // Nodes that are added from now on belong to this op and are named after it.
  void Begin(mlir::Operation* op);

  // Record what `value` is: an input of the model, a tensor in one layout, or a constant.
  void SetInput(mlir::Value value, TensorId tensor) { At(value).tensors[0] = tensor; }
  void Set(mlir::Value value, TensorId tensor, Layout layout = Layout::kChannelsLast);
  void SetConstant(mlir::Value value, NamedConstant constant);
  // Records that `value` is a broadcast of `source`: dimension i of `source` is dimension dims[i] of `value`.
  void SetRepeated(mlir::Value value, mlir::Value source, std::vector<int64_t> dims);
  // Records that `value` is `source` [b, ..., c] reshaped to [b, n].
  void SetFlattened(mlir::Value value, mlir::Value source);

  // Returns the constant that `value` is; null if its elements are not known when the model is exported.
  const NamedConstant* ConstantOf(mlir::Value value) const;
  // True if `value`, or the image that it is a broadcast of, has a tensor in channels first but none in channels last.
  bool PrefersChannelsFirst(mlir::Value value) const;
  // Returns the layout in which `value` has a tensor; channels last if it has both.
  Layout LayoutOf(mlir::Value value) const {
    return PrefersChannelsFirst(value) ? Layout::kChannelsFirst : Layout::kChannelsLast;
  }
  // Returns the layout for an elementwise op: channels first if an operand that is no broadcast has only such a tensor.
  Layout CommonLayout(mlir::ValueRange values) const;
  // If `value` was recorded by SetFlattened and its source has a tensor in channels first only, returns the source.
  // Otherwise returns null.
  mlir::Value FlattenedImage(mlir::Value value) const;

  // Returns a tensor with all elements of `value` in `layout`; adds the nodes that compute it unless it exists.
  TensorId Tensor(mlir::Value value, Layout layout = Layout::kChannelsLast);
  // Returns the operands of an elementwise op in this layout, as tensors that ONNX itself broadcasts to the op's shape.
  std::vector<TensorId> Operands(mlir::ValueRange values, Layout layout);

  // Append nodes and return their outputs.
  TensorId Node(const std::string& op_type, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {});
  std::vector<TensorId> Nodes(const std::string& op_type, std::vector<TensorId> inputs,
                              std::vector<Attribute> attributes, int outputs);
  TensorId Transposed(TensorId tensor, const std::vector<int64_t>& permutation);
  // Appends a reshape. `to` may have the batch as its first dimension if the tensor has it there too.
  TensorId Reshaped(TensorId tensor, const Shape& to);
  // Broadcasts a tensor to shape `to`. `has_batch`: the batch that `to` begins with is a dimension of the tensor
  // already.
  TensorId Expanded(TensorId tensor, Shape to, bool has_batch);
  // Returns a tensor of shape [1] with the number of rows in the batch.
  TensorId BatchSize();

  TensorId Constant(const std::string& name, const HostTensor& value) { return draft_.AddConstant(name, value); }
  // Returns the constant `value` with its dimensions permuted. Repeated calls return the same tensor.
  TensorId PermutedConstant(mlir::Value value, const std::vector<int64_t>& permutation);
  // Returns a constant of this shape with the elements 0, 1, ..., count - 1.
  TensorId Positions(int64_t count, DType dtype, const Shape& shape);
  TensorId Ints(const std::vector<int64_t>& values);
  TensorId Number(double number, DType dtype);

 private:
  // What was recorded of a value: a constant, a broadcast or a flattening of `source`, or the output of a node; and its
  // tensors, by layout.
  struct Lowered {
    std::optional<NamedConstant> constant;
    mlir::Value source;
    bool flattens = false;
    std::vector<int64_t> dims;  // for a broadcast: the argument of SetRepeated
    std::optional<TensorId> tensors[2];
  };

  Lowered& At(mlir::Value value) { return values_[value.getAsOpaquePointer()]; }
  const Lowered* Find(mlir::Value value) const;
  bool Repeats(mlir::Value value) const;
  TensorId Make(mlir::Value value, Layout layout);
  // Returns the source of the broadcast `value`, with size 1 in each dimension that the broadcast adds, so that ONNX's
  // elementwise ops broadcast it themselves. Leading dimensions of size 1 are left out.
  TensorId BeforeRepeating(mlir::Value value, Layout layout);

  Draft& draft_;
  const TranslateOptions& options_;
  std::unordered_map<const void*, Lowered> values_;
  std::string op_name_;
  TensorId first_of_op_ = 0;
  std::optional<TensorId> batch_size_;
  std::map<std::pair<const void*, std::vector<int64_t>>, TensorId> permuted_constants_;
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_LOWERING_H_
