// Translates ops that move elements: constants, broadcasts, reshapes, transposes, slices and so on.
#include <vector>

#include "graph/ir/shape.h"
#include "passes/stablehlo/translators.h"
#include "passes/translation/refusals.h"

namespace tandem::stablehlo {
namespace {

absl::StatusOr<mlir::Value> Constant(mlir::Operation* op, Lowering& lowering) {
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(mlir::cast<td::ConstantOp>(op).getValue());
  if (elements) return lowering.emitter().Constant(elements);
  return translation::HasNoForm(op, kFormat,
                                "the numbers of the constant are not in the program; export the model again");
}

absl::StatusOr<mlir::Value> Iota(mlir::Operation* op, Lowering& lowering) {
  return lowering.emitter().Iota(mlir::cast<td::IotaOp>(op).getAxis(), lowering.TypeFor(op->getResult(0)));
}

absl::StatusOr<mlir::Value> Broadcast(mlir::Operation* op, Lowering& lowering) {
  auto broadcast = mlir::cast<td::BroadcastOp>(op);
  return lowering.emitter().Broadcast(lowering.Get(broadcast.getInput()), broadcast.getDims(),
                                      lowering.TypeFor(broadcast));
}

absl::StatusOr<mlir::Value> Reshape(mlir::Operation* op, Lowering& lowering) {
  return lowering.emitter().Reshape(lowering.Get(op->getOperand(0)), lowering.TypeFor(op->getResult(0)));
}

absl::StatusOr<mlir::Value> Transpose(mlir::Operation* op, Lowering& lowering) {
  auto transpose = mlir::cast<td::TransposeOp>(op);
  return lowering.emitter().Transpose(lowering.Get(transpose.getInput()), transpose.getPermutation());
}

absl::StatusOr<mlir::Value> Slice(mlir::Operation* op, Lowering& lowering) {
  auto slice = mlir::cast<td::SliceOp>(op);
  Emitter& emit = lowering.emitter();
  const mlir::RankedTensorType type = lowering.TypeFor(slice);
  std::vector<int64_t> limits;
  for (auto [begin, size] : llvm::zip(slice.getBegin(), type.getShape())) limits.push_back(begin + size);
  return emit.Op("slice", lowering.Get(slice.getInput()), type,
                 {emit.Named("start_indices", slice.getBegin()), emit.Named("limit_indices", Ints(limits)),
                  emit.Named("strides", Ints(std::vector<int64_t>(limits.size(), 1)))});
}

absl::StatusOr<mlir::Value> Pad(mlir::Operation* op, Lowering& lowering) {
  auto pad = mlir::cast<td::PadOp>(op);
  Emitter& emit = lowering.emitter();
  const mlir::RankedTensorType type = lowering.TypeFor(pad);
  const mlir::Value value = emit.Number(pad.getValue().convertToDouble(), ScalarOf(type));
  return emit.Op("pad", {lowering.Get(pad.getInput()), value}, type,
                 {emit.Named("edge_padding_low", pad.getLow()), emit.Named("edge_padding_high", pad.getHigh()),
                  emit.Named("interior_padding", Ints(std::vector<int64_t>(pad.getLow().size(), 0)))});
}

absl::StatusOr<mlir::Value> Concat(mlir::Operation* op, Lowering& lowering) {
  Emitter& emit = lowering.emitter();
  return emit.Op("concatenate", lowering.Get(op->getOperands()), lowering.TypeFor(op->getResult(0)),
                 emit.Named("dimension", static_cast<int64_t>(mlir::cast<td::ConcatOp>(op).getAxis())));
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

}  // namespace tandem::stablehlo
