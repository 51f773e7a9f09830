// Translates td.gather (rows by index) and td.one_hot.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ir/gather.h"
#include "llvm/Support/MathExtras.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

// Takes the nearest row for an index out of range, as StableHLO's gather does itself, and makes NaN of it where there
// is one.
absl::StatusOr<mlir::Value> Gather(mlir::Operation* op, Lowering& lowering) {
  auto gather = mlir::cast<td::GatherOp>(op);
  Emitter& emit = lowering.emitter();
  const mlir::Value params = lowering.Get(gather.getParams()), indices = lowering.Get(gather.getIndices());
  const mlir::RankedTensorType type = lowering.TypeFor(gather);
  llvm::SmallVector<int64_t> sizes(TypeOf(params).getShape());
  const int64_t rows = sizes[0], rank = TypeOf(indices).getRank();
  sizes[0] = 1;
  const std::string numbers =
      absl::StrCat("gather<offset_dims = [", absl::StrJoin(Counted(rank, type.getRank()), ", "),
                   "], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = ", rank, ">");
  const mlir::Value taken = emit.Op("gather", {params, indices}, type,
                                    {emit.Named("dimension_numbers", numbers), emit.Named("slice_sizes", Ints(sizes))});
  if (!mlir::isa<mlir::FloatType>(type.getElementType())) return taken;
  const int64_t largest = llvm::maxIntN(TypeOf(indices).getElementType().getIntOrFloatBitWidth());
  const mlir::Value last = emit.Number(static_cast<double>(std::min(rows - 1, largest)), ScalarOf(indices.getType()));
  const mlir::Value first = emit.Number(0, ScalarOf(indices.getType()));
  const mlir::Value nearest = emit.Op("clamp", {first, indices, last}, indices.getType());
  const mlir::Value is_inside = emit.Compare("EQ", indices, nearest);
  const mlir::Value rows_inside =
      emit.Broadcast(is_inside, Counted(0, rank), WithElement(type, TypeOf(is_inside).getElementType()));
  return emit.Select(rows_inside, taken, emit.Number(std::numeric_limits<double>::quiet_NaN(), type));
}

absl::StatusOr<mlir::Value> OneHot(mlir::Operation* op, Lowering& lowering) {
  Emitter& emit = lowering.emitter();
  const mlir::Value indices = lowering.Get(op->getOperand(0));
  const mlir::RankedTensorType type = lowering.TypeFor(op->getResult(0));
  const mlir::Type index_type = WithElement(type, TypeOf(indices).getElementType());
  const mlir::Value positions = emit.Iota(type.getRank() - 1, index_type);
  const mlir::Value repeated = emit.Broadcast(indices, Counted(0, type.getRank() - 1), index_type);
  return emit.Convert(emit.Compare("EQ", repeated, positions), type);
}

}  // namespace

void AddLookups(TranslatorTable& table) {
  table["td.gather"] = Gather;
  table["td.one_hot"] = OneHot;
}

}  // namespace tandem::stablehlo
