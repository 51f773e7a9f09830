// Translates ops that move elements: constants, broadcasts, reshapes, transposes, slices and so on.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/shape.h"
#include "passes/base/pass_util.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/translators.h"
#include "passes/translation/refusals.h"

namespace tandem::onnx {
namespace {

using Numbers = std::vector<int64_t>;

absl::Status Constant(mlir::Operation* op, Lowering& lowering) {
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(mlir::cast<td::ConstantOp>(op).getValue());
  if (!elements) {
    return translation::HasNoForm(op, kFormat,
                                  "the numbers of the constant are not in the program; export the model again");
  }
  const std::string name = LocationName(op->getLoc());
  lowering.SetConstant(op->getResult(0), {name.empty() ? "constant" : name, ElementsOf(elements)});
  return absl::OkStatus();
}

absl::Status Iota(mlir::Operation* op, Lowering& lowering) {
  const Shape shape = ShapeOf(op->getResult(0));
  const int64_t axis = mlir::cast<td::IotaOp>(op).getAxis();
  const DType dtype = ElementTypeOf(op->getResult(0));
  Shape ones(shape.size(), 1);
  ones[axis] = shape[axis];
  TensorId positions;
  if (shape[axis] == kBatch) {
    const TensorId rows = lowering.Reshaped(lowering.BatchSize(), {});
    positions = lowering.Node("Range", {lowering.Number(0, DType::kInt64), rows, lowering.Number(1, DType::kInt64)});
    if (dtype != DType::kInt64) positions = lowering.Node("Cast", {positions}, {{"to", DataTypeOf(dtype)}});
    if (shape.size() > 1) positions = lowering.Reshaped(positions, ones);
  } else {
    positions = lowering.Positions(shape[axis], dtype, ones);
  }
  if (shape != ones) positions = lowering.Expanded(positions, shape, /*has_batch=*/axis == 0);
  lowering.Set(op->getResult(0), positions);
  return absl::OkStatus();
}

absl::Status Broadcast(mlir::Operation* op, Lowering& lowering) {
  lowering.SetRepeated(op->getResult(0), op->getOperand(0), ToNumbers(mlir::cast<td::BroadcastOp>(op).getDims()));
  return absl::OkStatus();
}

// If batch and channels keep their sizes, an image in channels first is reshaped in that layout: the dimensions in
// between have the same order in both. If an image becomes one row per example, only that is recorded; the elements are
// put in td's order when a reader needs them so (products.cc).
absl::Status Reshape(mlir::Operation* op, Lowering& lowering) {
  const mlir::Value x = op->getOperand(0), y = op->getResult(0);
  const Shape from = ShapeOf(x), to = ShapeOf(y);
  if (const Lowering::NamedConstant* known = lowering.ConstantOf(x)) {
    lowering.SetConstant(y, {known->name, known->value.Reshaped(to)});
  } else if (lowering.PrefersChannelsFirst(x) && from[0] == to[0] && to.size() > 2 && from.back() == to.back()) {
    Shape sizes = {to[0], to.back()};
    sizes.insert(sizes.end(), to.begin() + 1, to.end() - 1);
    lowering.Set(y, lowering.Reshaped(lowering.Tensor(x, Layout::kChannelsFirst), sizes), Layout::kChannelsFirst);
  } else if (lowering.PrefersChannelsFirst(x) && from[0] == to[0] && to.size() == 2) {
    lowering.SetFlattened(y, x);
  } else {
    lowering.Set(y, lowering.Reshaped(lowering.Tensor(x), to));
  }
  return absl::OkStatus();
}

absl::Status Transpose(mlir::Operation* op, Lowering& lowering) {
  const Numbers permutation = ToNumbers(mlir::cast<td::TransposeOp>(op).getPermutation());
  const mlir::Value x = op->getOperand(0);
  if (const Lowering::NamedConstant* known = lowering.ConstantOf(x)) {
    lowering.SetConstant(op->getResult(0), {known->name, Permuted(known->value, permutation)});
  } else {
    lowering.Set(op->getResult(0), lowering.Transposed(lowering.Tensor(x), permutation));
  }
  return absl::OkStatus();
}

absl::Status Slice(mlir::Operation* op, Lowering& lowering) {
  auto slice = mlir::cast<td::SliceOp>(op);
  const mlir::Value x = op->getOperand(0);
  const Shape from = ShapeOf(x), to = ShapeOf(op->getResult(0));
  const Layout layout = lowering.LayoutOf(x);
  const Numbers order = OrderOf(layout, static_cast<int64_t>(from.size()));
  Numbers starts, ends, axes;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dimension = order[i];
    if (from[dimension] == to[dimension]) continue;
    starts.push_back(slice.getBegin()[dimension]);
    ends.push_back(starts.back() + to[dimension]);
    axes.push_back(static_cast<int64_t>(i));
  }
  TensorId tensor = lowering.Tensor(x, layout);
  if (!axes.empty()) {
    tensor = lowering.Node("Slice", {tensor, lowering.Ints(starts), lowering.Ints(ends), lowering.Ints(axes)});
  }
  lowering.Set(op->getResult(0), tensor, layout);
  return absl::OkStatus();
}

absl::Status Pad(mlir::Operation* op, Lowering& lowering) {
  auto pad = mlir::cast<td::PadOp>(op);
  const mlir::Value x = op->getOperand(0);
  const Layout layout = lowering.LayoutOf(x);
  Numbers pads;  // the pads before each dimension, then the pads behind each
  for (llvm::ArrayRef<int64_t> side : {pad.getLow(), pad.getHigh()}) {
    for (int64_t dimension : OrderOf(layout, static_cast<int64_t>(side.size()))) pads.push_back(side[dimension]);
  }
  const TensorId value = lowering.Number(pad.getValue().convertToDouble(), ElementTypeOf(x));
  lowering.Set(op->getResult(0), lowering.Node("Pad", {lowering.Tensor(x, layout), lowering.Ints(pads), value}),
               layout);
  return absl::OkStatus();
}

absl::Status Concat(mlir::Operation* op, Lowering& lowering) {
  const Layout layout = lowering.CommonLayout(op->getOperands());
  const Numbers order = OrderOf(layout, static_cast<int64_t>(ShapeOf(op->getResult(0)).size()));
  const int64_t axis = mlir::cast<td::ConcatOp>(op).getAxis();
  std::vector<TensorId> parts;
  for (mlir::Value part : op->getOperands()) parts.push_back(lowering.Tensor(part, layout));
  const int64_t position = std::find(order.begin(), order.end(), axis) - order.begin();
  lowering.Set(op->getResult(0), lowering.Node("Concat", parts, {{"axis", position}}), layout);
  return absl::OkStatus();
}

}  // namespace

void AddShapes(TranslatorTable& table) {
  table["td.constant"] = Constant;
  table["td.iota"] = Iota;
  table["td.broadcast"] = Broadcast;
  table["td.reshape"] = Reshape;
  table["td.transpose"] = Transpose;
  table["td.slice"] = Slice;
  table["td.pad"] = Pad;
  table["td.concat"] = Concat;
}

}  // namespace tandem::onnx
