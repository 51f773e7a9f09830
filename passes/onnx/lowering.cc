#include "passes/onnx/lowering.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/interfaces.h"
#include "passes/base/pass_util.h"
#include "passes/onnx/constants.h"

namespace tandem::onnx {
namespace {

Shape InOrder(const Shape& shape, const std::vector<int64_t>& order) {
  Shape result;
  for (int64_t dimension : order) result.push_back(shape[dimension]);
  return result;
}

// True if a value of this shape has its elements in the same order in both layouts, channels last and channels first.
bool LayoutsAgree(const Shape& shape) {
  const int64_t between = NumElements(absl::MakeConstSpan(shape).subspan(1, shape.size() - 2));
  return between == 1 || shape.back() == 1;
}

}  // namespace

std::vector<int64_t> ToNumbers(llvm::ArrayRef<int64_t> numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<int64_t> OrderOf(Layout layout, int64_t rank) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i) order.push_back(i);
  if (layout == Layout::kChannelsFirst && rank > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

void Lowering::Begin(mlir::Operation* op) {
  op_name_ = LocationName(op->getLoc());
  if (op_name_.empty()) op_name_ = op->getName().stripDialect().str();
  first_of_op_ = draft_.size();
}

void Lowering::Set(mlir::Value value, TensorId tensor, Layout layout) {
  if (tensor >= first_of_op_) draft_.Rename(tensor, op_name_);
  At(value).tensors[static_cast<int>(layout)] = tensor;
  if (ShapeOf(value).size() < 3) At(value).tensors[static_cast<int>(Layout::kChannelsLast)] = tensor;
}

void Lowering::SetConstant(mlir::Value value, NamedConstant constant) { At(value).constant = std::move(constant); }

void Lowering::SetRepeated(mlir::Value value, mlir::Value source, std::vector<int64_t> dims) {
  At(value).source = source;
  At(value).dims = std::move(dims);
}

void Lowering::SetFlattened(mlir::Value value, mlir::Value source) {
  At(value).source = source;
  At(value).flattens = true;
}

const Lowering::Lowered* Lowering::Find(mlir::Value value) const {
  const auto found = values_.find(value.getAsOpaquePointer());
  return found == values_.end() ? nullptr : &found->second;
}

bool Lowering::Repeats(mlir::Value value) const {
  const Lowered* lowered = Find(value);
  return lowered != nullptr && lowered->source && !lowered->flattens;
}

const Lowering::NamedConstant* Lowering::ConstantOf(mlir::Value value) const {
  const Lowered* lowered = Find(value);
  return lowered != nullptr && lowered->constant.has_value() ? &*lowered->constant : nullptr;
}

bool Lowering::PrefersChannelsFirst(mlir::Value value) const {
  const Lowered* lowered = Find(value);
  const int64_t rank = static_cast<int64_t>(ShapeOf(value).size());
  if (lowered == nullptr || rank < 3) return false;
  if (lowered->tensors[static_cast<int>(Layout::kChannelsLast)].has_value()) return false;
  if (lowered->tensors[static_cast<int>(Layout::kChannelsFirst)].has_value()) return true;
  return Repeats(value) && PrefersChannelsFirst(lowered->source) && lowered->dims.front() == 0 &&
         lowered->dims.back() == rank - 1;
}

Layout Lowering::CommonLayout(mlir::ValueRange values) const {
  const bool all_repeat = llvm::all_of(values, [&](mlir::Value v) { return Repeats(v); });
  const bool first =
      llvm::any_of(values, [&](mlir::Value v) { return (all_repeat || !Repeats(v)) && PrefersChannelsFirst(v); });
  return first ? Layout::kChannelsFirst : Layout::kChannelsLast;
}

mlir::Value Lowering::FlattenedImage(mlir::Value value) const {
  const Lowered* lowered = Find(value);
  const bool image = lowered != nullptr && lowered->flattens && PrefersChannelsFirst(lowered->source);
  return image ? lowered->source : mlir::Value();
}

TensorId Lowering::Tensor(mlir::Value value, Layout layout) {
  if (ShapeOf(value).size() < 3) layout = Layout::kChannelsLast;
  const int number = static_cast<int>(layout);
  if (!At(value).tensors[number].has_value()) {
    const TensorId made = Make(value, layout);
    At(value).tensors[number] = made;
  }
  return *At(value).tensors[number];
}

TensorId Lowering::Make(mlir::Value value, Layout layout) {
  const Lowered& lowered = At(value);  // valid while values are added: values_ never moves its elements
  const Shape shape = ShapeOf(value);
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (lowered.constant.has_value()) return PermutedConstant(value, OrderOf(layout, rank));
  if (Repeats(value)) {
    const bool has_batch = !lowered.dims.empty() && lowered.dims.front() == 0;
    return Expanded(BeforeRepeating(value, layout), InOrder(shape, OrderOf(layout, rank)), has_batch);
  }
  if (lowered.flattens) return Reshaped(Tensor(lowered.source), shape);
  const Layout other = layout == Layout::kChannelsLast ? Layout::kChannelsFirst : Layout::kChannelsLast;
  const TensorId held = *lowered.tensors[static_cast<int>(other)];
  if (LayoutsAgree(shape)) return Reshaped(held, InOrder(shape, OrderOf(layout, rank)));
  std::vector<int64_t> permutation = OrderOf(Layout::kChannelsFirst, rank);
  if (layout == Layout::kChannelsLast) {  // the inverse permutation, back from channels first
    for (int64_t i = 0; i < rank; ++i) permutation[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
  }
  return Transposed(held, permutation);
}

TensorId Lowering::BeforeRepeating(mlir::Value value, Layout layout) {
  const Lowered& lowered = At(value);
  const mlir::Value source = lowered.source;
  const Shape source_shape = ShapeOf(source);
  const Layout source_layout = PrefersChannelsFirst(source) ? Layout::kChannelsFirst : Layout::kChannelsLast;
  const std::vector<int64_t> source_order = OrderOf(source_layout, static_cast<int64_t>(source_shape.size()));
  Shape with_ones;
  // Dimensions of the source in the order of the result, numbered as td has them and as the source's tensor has them.
  std::vector<int64_t> from_td, from_tensor;
  for (int64_t dimension : OrderOf(layout, static_cast<int64_t>(ShapeOf(value).size()))) {
    const auto found = std::find(lowered.dims.begin(), lowered.dims.end(), dimension);
    if (found == lowered.dims.end()) {
      with_ones.push_back(1);
      continue;
    }
    from_td.push_back(found - lowered.dims.begin());
    from_tensor.push_back(std::find(source_order.begin(), source_order.end(), from_td.back()) - source_order.begin());
    with_ones.push_back(source_shape[from_td.back()]);
  }
  with_ones.erase(with_ones.begin(),
                  std::find_if(with_ones.begin(), with_ones.end(), [](int64_t d) { return d != 1; }));
  if (const NamedConstant* constant = ConstantOf(source)) {
    return Constant(constant->name, Permuted(constant->value, from_td).Reshaped(with_ones));
  }
  TensorId tensor = Tensor(source, source_layout);
  if (!std::is_sorted(from_tensor.begin(), from_tensor.end())) tensor = Transposed(tensor, from_tensor);
  return with_ones == InOrder(source_shape, from_td) ? tensor : Reshaped(tensor, with_ones);
}

std::vector<TensorId> Lowering::Operands(mlir::ValueRange values, Layout layout) {
  // ONNX broadcasts the operands only to a shape that one of them has. So if all of them are broadcasts, the first one
  // is expanded to the result's shape.
  const bool all_repeat = llvm::all_of(values, [&](mlir::Value v) { return Repeats(v); });
  std::vector<TensorId> tensors;
  for (mlir::Value value : values) {
    const bool made = At(value).tensors[static_cast<int>(layout)].has_value();
    const bool whole = made || !Repeats(value) || (all_repeat && tensors.empty());
    tensors.push_back(whole ? Tensor(value, layout) : BeforeRepeating(value, layout));
  }
  return tensors;
}

std::vector<TensorId> Lowering::Nodes(const std::string& op_type, std::vector<TensorId> inputs,
                                      std::vector<Attribute> attributes, int outputs) {
  return draft_.AddNode(absl::StrCat(op_name_, "/", op_type), op_type, std::move(inputs), std::move(attributes),
                        outputs);
}

TensorId Lowering::Node(const std::string& op_type, std::vector<TensorId> inputs, std::vector<Attribute> attributes) {
  return Nodes(op_type, std::move(inputs), std::move(attributes), 1)[0];
}

TensorId Lowering::Transposed(TensorId tensor, const std::vector<int64_t>& permutation) {
  return Node("Transpose", {tensor}, {{"perm", permutation}});
}

TensorId Lowering::Reshaped(TensorId tensor, const Shape& to) {
  Shape sizes = to;
  if (!sizes.empty() && sizes[0] == kBatch) sizes[0] = 0;  // 0 keeps the size that the tensor has
  return Node("Reshape", {tensor, Ints(sizes)});
}

TensorId Lowering::Expanded(TensorId tensor, Shape to, bool has_batch) {
  const bool batched = !to.empty() && to[0] == kBatch;
  if (!batched || has_batch) {
    if (batched) to[0] = 1;  // size 1: the tensor's batch is kept
    return Node("Expand", {tensor, Ints(to)});
  }
  const Shape rest(to.begin() + 1, to.end());
  const TensorId batch = BatchSize();
  return Node("Expand", {tensor, rest.empty() ? batch : Node("Concat", {batch, Ints(rest)}, {{"axis", int64_t{0}}})});
}

TensorId Lowering::BatchSize() {
  if (!batch_size_.has_value()) {
    batch_size_ = Node("Shape", {draft_.inputs()[0]}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    draft_.Rename(*batch_size_, "batch_size");
  }
  return *batch_size_;
}

TensorId Lowering::PermutedConstant(mlir::Value value, const std::vector<int64_t>& permutation) {
  const auto [entry, is_new] = permuted_constants_.emplace(std::pair(value.getAsOpaquePointer(), permutation), 0);
  const NamedConstant& constant = *ConstantOf(value);
  if (is_new) entry->second = Constant(constant.name, Permuted(constant.value, permutation));
  return entry->second;
}

TensorId Lowering::Positions(int64_t count, DType dtype, const Shape& shape) {
  return draft_.AddNumbers("positions", Counted(count, dtype).Reshaped(shape));
}

TensorId Lowering::Ints(const std::vector<int64_t>& values) {
  return draft_.AddNumbers("shape", HostTensor::FromVector({static_cast<int64_t>(values.size())}, values));
}

TensorId Lowering::Number(double number, DType dtype) { return draft_.AddNumbers("number", NumberOf(number, dtype)); }

}  // namespace tandem::onnx
