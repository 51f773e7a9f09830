// Translates elementwise ops. NaN wins in StableHLO's maximum and minimum, as in td's.
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/binary.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

// Returns a translator to the op of this name, with the same operands.
Translator To(const std::string& name) {
  return [name](mlir::Operation* op, Lowering& lowering) -> absl::StatusOr<mlir::Value> {
    return lowering.emitter().Op(name, lowering.Get(op->getOperands()), lowering.TypeFor(op->getResult(0)));
  };
}

absl::StatusOr<mlir::Value> Operand(mlir::Operation* op, Lowering& lowering) { return lowering.Get(op->getOperand(0)); }

absl::StatusOr<mlir::Value> Relu(mlir::Operation* op, Lowering& lowering) {
  const mlir::Value x = lowering.Get(op->getOperand(0));
  return lowering.emitter().Same("maximum", {x, lowering.emitter().Number(0, x.getType())});
}

const char* DirectionOf(td::ComparePredicate predicate) {
  switch (predicate) {
    case td::ComparePredicate::kEq:
      return "EQ";
    case td::ComparePredicate::kNe:
      return "NE";
    case td::ComparePredicate::kLt:
      return "LT";
    case td::ComparePredicate::kLe:
      return "LE";
    case td::ComparePredicate::kGt:
      return "GT";
    case td::ComparePredicate::kGe:
      break;
  }
  return "GE";
}

absl::StatusOr<mlir::Value> Compare(mlir::Operation* op, Lowering& lowering) {
  auto compare = mlir::cast<td::CompareOp>(op);
  return lowering.emitter().Compare(DirectionOf(compare.getPredicate()), lowering.Get(compare.getLhs()),
                                    lowering.Get(compare.getRhs()));
}

// StableHLO does not say what a NaN is as a boolean, so that numbers are compared with 0.
absl::StatusOr<mlir::Value> Cast(mlir::Operation* op, Lowering& lowering) {
  Emitter& emit = lowering.emitter();
  const mlir::Value x = lowering.Get(op->getOperand(0));
  const mlir::RankedTensorType type = lowering.TypeFor(op->getResult(0));
  if (x.getType() == type) return x;
  if (type.getElementType().isInteger(1)) return emit.Compare("NE", x, emit.Number(0, x.getType()));
  return emit.Convert(x, type);
}

}  // namespace

void AddElementwise(TranslatorTable& table) {
  for (const auto& [op, name] : std::vector<std::pair<const char*, const char*>>{{"td.neg", "negate"},
                                                                                 {"td.abs", "abs"},
                                                                                 {"td.sign", "sign"},
                                                                                 {"td.exp", "exponential"},
                                                                                 {"td.log", "log"},
                                                                                 {"td.sqrt", "sqrt"},
                                                                                 {"td.rsqrt", "rsqrt"},
                                                                                 {"td.tanh", "tanh"},
                                                                                 {"td.sin", "sine"},
                                                                                 {"td.cos", "cosine"},
                                                                                 {"td.sigmoid", "logistic"},
                                                                                 {"td.floor", "floor"},
                                                                                 {"td.is_finite", "is_finite"},
                                                                                 {"td.not", "not"},
                                                                                 {"td.and", "and"},
                                                                                 {"td.or", "or"},
                                                                                 {"td.add", "add"},
                                                                                 {"td.sub", "subtract"},
                                                                                 {"td.mul", "multiply"},
                                                                                 {"td.div", "divide"},
                                                                                 {"td.max", "maximum"},
                                                                                 {"td.min", "minimum"},
                                                                                 {"td.pow", "power"},
                                                                                 {"td.select", "select"}}) {
    table[op] = To(name);
  }
  table["td.relu"] = Relu;
  table["td.compare"] = Compare;
  table["td.cast"] = Cast;
  table["td.stop_gradient"] = Operand;
  // An exported model is one replica, for which it is its operand.
  table["td.cross_replica"] = Operand;
}

}  // namespace tandem::stablehlo
