// Lowering: the values of a td graph as tensors of an ONNX graph, which translators of ops (translators.h) extend.
//
// ONNX has images as [b, c, h, w], td as [b, h, w, c]. A value is held in the layout that the op has which made it, and
// is transposed when an op wants the other one. So images stay as convolutions have them from one to the next, and
// what is between follows: an elementwise op takes its operands' layout. The same goes for broadcasts, since ONNX's
// elementwise ops repeat their operands themselves: a broadcast value is a tensor only for an op that does not.
#ifndef TANDEM_PASSES_ONNX_LOWERING_H_
#define TANDEM_PASSES_ONNX_LOWERING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "passes/onnx/draft.h"
#include "passes/onnx/translate_options.h"

namespace tandem::onnx {

enum class Layout {
  kChannelsLast,   // as in td
  kChannelsFirst,  // [b, c, ...]; of values with fewer than three dimensions the same as td's
};

Shape ShapeOf(mlir::Value value);
DType ElementTypeOf(mlir::Value value);
std::vector<int64_t> ToNumbers(llvm::ArrayRef<int64_t> numbers);

// Returns the order of a value's dimensions in a layout: dimension i of the tensor is dimension order[i] of the value.
std::vector<int64_t> OrderOf(Layout layout, int64_t rank);

// Returns Unimplemented, with the op's name and the user's line. `problem` goes on behind "has no form in ONNX: ", and
// says what to do.
absl::Status HasNoForm(mlir::Operation* op, absl::string_view problem);

class Lowering {
 public:
  struct NamedConstant {
    std::string name;
    HostTensor value;
  };

  Lowering(Draft& draft, const TranslateOptions& options) : draft_(draft), options_(options) {}

  const TranslateOptions& options() const { return options_; }

  // The nodes that are made next belong to this op, and are named like it.
  void Begin(mlir::Operation* op);

  // Say what a value is.
  void SetInput(mlir::Value value, TensorId tensor) { At(value).tensors[0] = tensor; }
  void Set(mlir::Value value, TensorId tensor, Layout layout = Layout::kChannelsLast);
  void SetConstant(mlir::Value value, NamedConstant constant);
  // Dimension i of `source` is dimension dims[i] of `value`, which repeats it along the others.
  void SetRepeated(mlir::Value value, mlir::Value source, std::vector<int64_t> dims);
  // `value` has the elements of `source` [b, ..., c] as [b, n].
  void SetFlattened(mlir::Value value, mlir::Value source);

  // Null unless the value is known.
  const NamedConstant* ConstantOf(mlir::Value value) const;
  // True if the value is held as channels first only.
  bool PrefersChannelsFirst(mlir::Value value) const;
  // The layout that the value is held in.
  Layout LayoutOf(mlir::Value value) const {
    return PrefersChannelsFirst(value) ? Layout::kChannelsFirst : Layout::kChannelsLast;
  }
  // The layout that an elementwise op of these operands has.
  Layout CommonLayout(mlir::ValueRange values) const;
  // For a value that was set by SetFlattened: its source, if that is held as channels first only. Otherwise null.
  mlir::Value FlattenedImage(mlir::Value value) const;

  // Returns the value as a tensor with all of its elements.
  TensorId Tensor(mlir::Value value, Layout layout = Layout::kChannelsLast);
  // Returns the operands of an elementwise op of this layout: tensors that ONNX's rules repeat to the op's shape.
  std::vector<TensorId> Operands(mlir::ValueRange values, Layout layout);

  // Append nodes.
  TensorId Node(const std::string& op_type, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {});
  std::vector<TensorId> Nodes(const std::string& op_type, std::vector<TensorId> inputs,
                              std::vector<Attribute> attributes, int outputs);
  TensorId Transposed(TensorId tensor, const std::vector<int64_t>& permutation);
  // `to` may have the batch as its first dimension, if the tensor has it there too.
  TensorId Reshaped(TensorId tensor, const Shape& to);
  // Repeats a tensor to shape `to`. `has_batch`: the tensor has the batch that `to` begins with.
  TensorId Expanded(TensorId tensor, Shape to, bool has_batch);
  // Returns the number of rows of the batch, [1].
  TensorId BatchSize();

  TensorId Constant(const std::string& name, const HostTensor& value) { return draft_.AddConstant(name, value); }
  // Returns a value that is known with its dimensions in another order. However often it is read, it is one tensor.
  TensorId PermutedConstant(mlir::Value value, const std::vector<int64_t>& permutation);
  // Returns 0, 1, ..., count - 1 in this shape.
  TensorId Positions(int64_t count, DType dtype, const Shape& shape);
  TensorId Ints(const std::vector<int64_t>& values);
  TensorId Number(double number, DType dtype);

 private:
  // What a value is: a constant, or repeats or flattens another value, or was made; and its tensors, by layout.
  struct Lowered {
    std::optional<NamedConstant> constant;
    mlir::Value source;
    bool flattens = false;
    std::vector<int64_t> dims;  // of a value that repeats another one
    std::optional<TensorId> tensors[2];
  };

  Lowered& At(mlir::Value value) { return values_[value.getAsOpaquePointer()]; }
  const Lowered* Find(mlir::Value value) const;
  bool Repeats(mlir::Value value) const;
  TensorId Make(mlir::Value value, Layout layout);
  // Returns what a value repeats, with sizes of 1 where it repeats; such leading sizes are left out.
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
