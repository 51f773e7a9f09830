// Translates reductions over dimensions.
#include <algorithm>
#include <string>
#include <vector>

#include "graph/ir/reduce.h"
#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

// The layout in which a value is reduced, and the reduced axes in it. The axes that remain are then in td's order.
struct ReducedAxes {
  Layout layout;
  std::vector<int64_t> axes;
};

// Reduces an image in the layout of its tensor, unless the channels would remain in front of other dimensions.
ReducedAxes AxesOf(mlir::Value x, const std::vector<int64_t>& td_axes, const Lowering& lowering) {
  const auto in_layout = [&](Layout layout, std::vector<int64_t>* left) {
    ReducedAxes reduced{layout, {}};
    const std::vector<int64_t> order = OrderOf(layout, static_cast<int64_t>(ShapeOf(x).size()));
    for (size_t i = 0; i < order.size(); ++i) {
      const bool is_reduced = std::count(td_axes.begin(), td_axes.end(), order[i]) > 0;
      if (is_reduced) reduced.axes.push_back(static_cast<int64_t>(i));
      if (!is_reduced) left->push_back(order[i]);
    }
    return reduced;
  };
  std::vector<int64_t> left;
  ReducedAxes held = in_layout(lowering.LayoutOf(x), &left);
  return std::is_sorted(left.begin(), left.end()) ? held : in_layout(Layout::kChannelsLast, &left);
}

const char* OpTypeOf(td::ReduceKind kind) {
  switch (kind) {
    case td::ReduceKind::kMax:
      return "ReduceMax";
    case td::ReduceKind::kMin:
      return "ReduceMin";
    case td::ReduceKind::kProd:
      return "ReduceProd";
    case td::ReduceKind::kSum:
      break;
  }
  return "ReduceSum";
}

absl::Status Reduce(mlir::Operation* op, Lowering& lowering) {
  auto reduce = mlir::cast<td::ReduceOp>(op);
  const mlir::Value x = reduce.getInput();
  const ReducedAxes reduced = AxesOf(x, ToNumbers(reduce.getAxes()), lowering);
  std::vector<TensorId> inputs = {lowering.Tensor(x, reduced.layout)};
  std::vector<Attribute> attributes = {{"keepdims", int64_t{0}}};
  // In opset 17 the axes are an input of ReduceSum, and an attribute of the other reductions.
  if (reduce.getKind() == td::ReduceKind::kSum) {
    inputs.push_back(lowering.Ints(reduced.axes));
  } else {
    attributes.push_back({"axes", reduced.axes});
  }
  lowering.Set(op->getResult(0), lowering.Node(OpTypeOf(reduce.getKind()), inputs, attributes));
  return absl::OkStatus();
}

absl::Status ArgMax(mlir::Operation* op, Lowering& lowering) {
  auto argmax = mlir::cast<td::ArgMaxOp>(op);
  const int64_t axis = static_cast<int64_t>(argmax.getAxis());
  const ReducedAxes reduced = AxesOf(argmax.getInput(), {axis}, lowering);
  const TensorId x = lowering.Tensor(argmax.getInput(), reduced.layout);
  lowering.Set(op->getResult(0), lowering.Node("ArgMax", {x}, {{"axis", reduced.axes[0]}, {"keepdims", int64_t{0}}}));
  return absl::OkStatus();
}

}  // namespace

void AddReductions(TranslatorTable& table) {
  table["td.reduce"] = Reduce;
  table["td.argmax"] = ArgMax;
}

}  // namespace tandem::onnx
