// Translates elementwise ops.
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/activation.h"
#include "graph/ir/binary.h"
#include "graph/ir/unary.h"
#include "passes/onnx/patterns.h"
#include "passes/onnx/translators.h"

namespace tandem::onnx {
namespace {

// Returns a translator that applies the first ONNX op to the operands, and each further op to the result before it.
Translator ToChain(const std::vector<std::string>& op_types) {
  return [op_types](mlir::Operation* op, Lowering& lowering) {
    const Layout layout = lowering.CommonLayout(op->getOperands());
    std::vector<TensorId> tensors = lowering.Operands(op->getOperands(), layout);
    for (const std::string& op_type : op_types) tensors = {lowering.Node(op_type, tensors)};
    lowering.Set(op->getResult(0), tensors[0], layout);
    return absl::OkStatus();
  };
}

// Returns a translator that tries `patterns`, which end with the op, and otherwise translates the op alone to
// `op_type`.
Translator ToPatternOr(const std::vector<bool (*)(mlir::Operation*, Lowering&)>& patterns, const std::string& op_type) {
  return [patterns, otherwise = ToElementwise(op_type)](mlir::Operation* op, Lowering& lowering) {
    for (const auto pattern : patterns) {
      if (pattern(op, lowering)) return absl::OkStatus();
    }
    return otherwise(op, lowering);
  };
}

absl::Status Compare(mlir::Operation* op, Lowering& lowering) {
  switch (mlir::cast<td::CompareOp>(op).getPredicate()) {
    case td::ComparePredicate::kEq:
      return ToElementwise("Equal")(op, lowering);
    case td::ComparePredicate::kNe:
      return ToChain({"Equal", "Not"})(op, lowering);
    case td::ComparePredicate::kLt:
      return ToElementwise("Less")(op, lowering);
    case td::ComparePredicate::kLe:
      return ToElementwise("LessOrEqual")(op, lowering);
    case td::ComparePredicate::kGt:
      return ToElementwise("Greater")(op, lowering);
    case td::ComparePredicate::kGe:
      break;
  }
  return ToElementwise("GreaterOrEqual")(op, lowering);
}

absl::Status Cast(mlir::Operation* op, Lowering& lowering) {
  const Layout layout = lowering.CommonLayout(op->getOperands());
  const std::vector<TensorId> x = lowering.Operands(op->getOperands(), layout);
  const int64_t to = DataTypeOf(ElementTypeOf(op->getResult(0)));
  lowering.Set(op->getResult(0), lowering.Node("Cast", x, {{"to", to}}), layout);
  return absl::OkStatus();
}

absl::Status IsFinite(mlir::Operation* op, Lowering& lowering) {
  const Layout layout = lowering.CommonLayout(op->getOperands());
  const std::vector<TensorId> x = lowering.Operands(op->getOperands(), layout);
  const TensorId either = lowering.Node("Or", {lowering.Node("IsNaN", x), lowering.Node("IsInf", x)});
  lowering.Set(op->getResult(0), lowering.Node("Not", {either}), layout);
  return absl::OkStatus();
}

// Composes Gelu of other ops, because ONNX has it only from opset 20 on and models are of opset 17.
absl::Status Gelu(mlir::Operation* op, Lowering& lowering) {
  const Layout layout = lowering.CommonLayout(op->getOperands());
  const TensorId x = lowering.Operands(op->getOperands(), layout)[0];
  const auto number = [&](double value) { return lowering.Number(value, ElementTypeOf(op->getResult(0))); };
  const auto times = [&](TensorId a, TensorId b) { return lowering.Node("Mul", {a, b}); };
  TensorId part;
  if (mlir::cast<td::GeluOp>(op).getApproximate()) {
    const TensorId cube = times(times(x, x), x);
    const TensorId sum = lowering.Node("Add", {x, times(cube, number(0.044715))});
    part = lowering.Node("Tanh", {times(sum, number(std::sqrt(2 / std::numbers::pi)))});
  } else {
    part = lowering.Node("Erf", {times(x, number(1 / std::numbers::sqrt2))});
  }
  const TensorId doubled = times(x, lowering.Node("Add", {part, number(1)}));
  lowering.Set(op->getResult(0), times(doubled, number(0.5)), layout);
  return absl::OkStatus();
}

}  // namespace

Translator ToElementwise(const std::string& op_type) { return ToChain({op_type}); }

void AddElementwise(TranslatorTable& table) {
  for (const auto& [op, op_type] :
       std::vector<std::pair<const char*, const char*>>{{"td.neg", "Neg"},
                                                        {"td.abs", "Abs"},
                                                        {"td.sign", "Sign"},
                                                        {"td.exp", "Exp"},
                                                        {"td.log", "Log"},
                                                        {"td.sqrt", "Sqrt"},
                                                        {"td.tanh", "Tanh"},
                                                        {"td.sin", "Sin"},
                                                        {"td.cos", "Cos"},
                                                        {"td.sigmoid", "Sigmoid"},
                                                        {"td.relu", "Relu"},
                                                        {"td.floor", "Floor"},
                                                        {"td.erf", "Erf"},
                                                        {"td.not", "Not"},
                                                        {"td.and", "And"},
                                                        {"td.or", "Or"},
                                                        {"td.sub", "Sub"},
                                                        {"td.div", "Div"},
                                                        {"td.max", "Max"},
                                                        {"td.min", "Min"},
                                                        {"td.pow", "Pow"},
                                                        {"td.select", "Where"},
                                                        {"td.stop_gradient", "Identity"},
                                                        // An exported model is one replica, for which td.cross_replica
                                                        // returns its operand.
                                                        {"td.cross_replica", "Identity"}}) {
    table[op] = ToElementwise(op_type);
  }
  table["td.add"] = ToPatternOr({TranslateBatchNorm, TranslateLayerNorm, TranslateBias}, "Add");
  table["td.mul"] = ToPatternOr({TranslateBatchNorm, TranslateLayerNorm}, "Mul");
  table["td.rsqrt"] = ToChain({"Sqrt", "Reciprocal"});
  table["td.compare"] = Compare;
  table["td.cast"] = Cast;
  table["td.is_finite"] = IsFinite;
  table["td.gelu"] = Gelu;
}

}  // namespace tandem::onnx
