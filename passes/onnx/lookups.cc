// Translates td.gather (rows by index) and td.one_hot.
#include "graph/ir/gather.h"
#include "graph/ir/shape.h"
#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

absl::Status Gather(mlir::Operation* op, Lowering& lowering) {
  auto gather = mlir::cast<td::GatherOp>(op);
  lowering.Set(op->getResult(0),
               lowering.Node("Gather", {lowering.Tensor(gather.getParams()), lowering.Tensor(gather.getIndices())},
                             {{"axis", int64_t{0}}}));
  return absl::OkStatus();
}

// Compares the indices with all positions instead of using ONNX's OneHot, which counts negative indices from the end.
// In td a negative index gives a row of zeros.
absl::Status OneHot(mlir::Operation* op, Lowering& lowering) {
  const mlir::Value indices = op->getOperand(0), result = op->getResult(0);
  const TensorId column = lowering.Node("Unsqueeze", {lowering.Tensor(indices), lowering.Ints({-1})});
  const int64_t depth = ShapeOf(result).back();
  const TensorId positions = lowering.Positions(depth, ElementTypeOf(indices), {depth});
  const TensorId is_there = lowering.Node("Equal", {column, positions});
  lowering.Set(result, lowering.Node("Cast", {is_there}, {{"to", DataTypeOf(ElementTypeOf(result))}}));
  return absl::OkStatus();
}

}  // namespace

void AddLookups(TranslatorTable& table) {
  table["td.gather"] = Gather;
  table["td.one_hot"] = OneHot;
}

}  // namespace tandem::onnx
