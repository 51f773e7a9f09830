// Translates reductions over dimensions.
#include <limits>

#include "graph/ir/reduce.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

const char* NameOf(td::ReduceKind kind) {
  switch (kind) {
    case td::ReduceKind::kMax:
      return "maximum";
    case td::ReduceKind::kMin:
      return "minimum";
    case td::ReduceKind::kProd:
      return "multiply";
    case td::ReduceKind::kSum:
      break;
  }
  return "add";
}

absl::StatusOr<mlir::Value> Reduce(mlir::Operation* op, Lowering& lowering) {
  auto reduce = mlir::cast<td::ReduceOp>(op);
  return lowering.emitter().Reduce(NameOf(reduce.getKind()), lowering.Get(reduce.getInput()), reduce.getAxes(),
                                   lowering.TypeFor(reduce));
}

// A NaN is the answer if it is the first element, and never otherwise. So it becomes infinity there, -infinity
// elsewhere: then the order in which elements are compared makes no difference.
mlir::Value WithoutNaN(mlir::Value x, mlir::Value positions, Emitter& emit) {
  if (!mlir::isa<mlir::FloatType>(TypeOf(x).getElementType())) return x;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const mlir::Value is_first = emit.Compare("EQ", positions, emit.Number(0, positions.getType()));
  const mlir::Value instead =
      emit.Select(is_first, emit.Number(kInfinity, x.getType()), emit.Number(-kInfinity, x.getType()));
  return emit.Select(emit.Compare("NE", x, x), instead, x);
}

// Reduces pairs of elements and positions: the larger element wins, and of equal ones the first.
absl::StatusOr<mlir::Value> ArgMax(mlir::Operation* op, Lowering& lowering) {
  Emitter& emit = lowering.emitter();
  const auto axis = static_cast<int64_t>(mlir::cast<td::ArgMaxOp>(op).getAxis());
  const mlir::RankedTensorType type = lowering.TypeFor(op->getResult(0));
  const mlir::Value given = lowering.Get(op->getOperand(0));
  const mlir::Value positions = emit.Iota(axis, WithElement(given.getType(), type.getElementType()));
  const mlir::Value x = WithoutNaN(given, positions, emit);
  const mlir::Type value_type = WithElement(type, TypeOf(x).getElementType());
  const mlir::Value lowest = emit.Neutral("maximum", ScalarOf(value_type));
  const mlir::Value behind = emit.Neutral("minimum", ScalarOf(type));
  return emit.ReduceTogether({x, positions}, {lowest, behind}, axis, {value_type, type}, [&](mlir::ValueRange e) {
    const mlir::Value larger = emit.Compare("GT", e[0], e[2]), equal = emit.Compare("EQ", e[0], e[2]);
    const mlir::Value first = emit.Same("and", {equal, emit.Compare("LT", e[1], e[3])});
    const mlir::Value wins = emit.Same("or", {larger, first});
    return llvm::SmallVector<mlir::Value>{emit.Select(wins, e[0], e[2]), emit.Select(wins, e[1], e[3])};
  })[1];
}

}  // namespace

void AddReductions(TranslatorTable& table) {
  table["td.reduce"] = Reduce;
  table["td.argmax"] = ArgMax;
}

}  // namespace tandem::stablehlo
