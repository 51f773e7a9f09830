#include "graph/builder/finite_values.h"

#include "graph/ir/activation.h"
#include "graph/ir/binary.h"
#include "graph/ir/contract.h"
#include "graph/ir/dist.h"
#include "graph/ir/gather.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/norm.h"
#include "graph/ir/reduce.h"
#include "graph/ir/shape.h"
#include "graph/ir/state.h"
#include "graph/ir/unary.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tandem::internal {
namespace {

// True for ops that map finite numbers to finite ones, unless they overflow.
bool KeepsFinite(mlir::Operation* op) {
  return mlir::isa<
      // Ops on the numbers of one tensor.
      td::NegOp, td::AbsOp, td::SignOp, td::TanhOp, td::SinOp, td::CosOp, td::SigmoidOp, td::ReluOp, td::FloorOp,
      td::ErfOp, td::GeluOp, td::GeluGradOp, td::StopGradientOp, td::CastOp, td::SoftmaxOp, td::LogSoftmaxOp,
      // Ops that combine the numbers of several tensors.
      td::AddOp, td::SubOp, td::MulOp, td::MaxOp, td::MinOp, td::SelectOp, td::MatMulOp, td::BatchMatMulOp,
      td::ScatterAddOp,
      // Ops that move, repeat or reduce elements.
      td::ReduceOp, td::BroadcastOp, td::ReshapeOp, td::TransposeOp, td::SliceOp, td::PadOp, td::ConcatOp, td::OneHotOp,
      td::CrossReplicaOp>(op);
}

// True if `holds` is true for all numbers of a constant.
bool AllOf(td::ConstantOp constant, llvm::function_ref<bool(const llvm::APFloat&)> holds) {
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
  return elements && mlir::isa<mlir::FloatType>(elements.getElementType()) &&
         llvm::all_of(elements.getValues<llvm::APFloat>(), holds);
}

enum class Least { kZero, kAboveZero };

// IsAtLeast follows operands back over at most this many ops.
constexpr int kOps = 16;

// True if the numbers of `value` are, by construction, at least 0; or above 0 in every step that has examples.
bool IsAtLeast(Least least, mlir::Value value, int ops = kOps) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || ops == 0) return false;
  const auto operand_is = [&](Least of_operand, unsigned i) {
    return IsAtLeast(of_operand, op->getOperand(i), ops - 1);
  };
  if (mlir::isa<td::BroadcastOp, td::ReshapeOp, td::CastOp, td::SqrtOp, td::RsqrtOp, td::StopGradientOp>(op)) {
    return operand_is(least, 0);
  }
  if (mlir::isa<td::AddOp>(op)) {
    return operand_is(Least::kZero, 0) && operand_is(Least::kZero, 1) &&
           (least == Least::kZero || operand_is(least, 0) || operand_is(least, 1));
  }
  if (mlir::isa<td::MulOp>(op)) {
    const bool square = least == Least::kZero && op->getOperand(0) == op->getOperand(1);
    return square || (operand_is(least, 0) && operand_is(least, 1));
  }
  if (mlir::isa<td::MaxOp>(op)) return operand_is(least, 0) || operand_is(least, 1);
  // This step scalar is the number of examples, by which means are divided.
  if (auto scalar = mlir::dyn_cast<td::ScalarOp>(op)) return scalar.getName() == "example_count";
  if (auto constant = mlir::dyn_cast<td::ConstantOp>(op)) {
    return AllOf(constant, [&](const llvm::APFloat& x) {
      return !x.isNaN() && (least == Least::kZero ? !x.isNegative() : !x.isNegative() && !x.isZero());
    });
  }
  if (least == Least::kAboveZero) return false;
  if (auto reduce = mlir::dyn_cast<td::ReduceOp>(op)) return operand_is(least, 0);
  if (auto moments = mlir::dyn_cast<td::BatchMomentsOp>(op)) return value == moments.getVariance();
  return mlir::isa<td::AbsOp, td::ReluOp>(op);
}

// True if KeepsFinite is, or if `op` maps finite numbers to finite ones because of the values of these operands, such
// as a divisor that cannot be 0.
bool KeepsTheseFinite(mlir::Operation* op, mlir::OperandRange operands) {
  if (KeepsFinite(op)) return true;
  if (mlir::isa<td::DivOp>(op)) {
    auto divisor = operands[1].getDefiningOp<td::ConstantOp>();
    const bool constant = divisor && AllOf(divisor, [](const llvm::APFloat& x) { return !x.isZero(); });
    if (constant || IsAtLeast(Least::kAboveZero, operands[1])) return true;
  }
  return mlir::isa<td::RsqrtOp, td::SqrtOp, td::LogOp>(op) && IsAtLeast(Least::kAboveZero, operands[0]);
}

}  // namespace

bool IsFiniteWithBatchSums(mlir::Value value) {
  llvm::SmallVector<mlir::Value> open = {value};
  llvm::DenseSet<mlir::Value> seen = {value};
  while (!open.empty()) {
    mlir::Operation* op = open.pop_back_val().getDefiningOp();
    if (op == nullptr || op->getNumOperands() == 0) continue;
    // An op with a batched operand ends the search: its result, for example a sum over the batch, is tested itself by
    // the step's finite check.
    if (llvm::any_of(op->getOperandTypes(), td::IsBatched)) continue;
    if (!KeepsTheseFinite(op, op->getOperands())) return false;
    for (mlir::Value operand : op->getOperands()) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  return true;
}

}  // namespace tandem::internal
