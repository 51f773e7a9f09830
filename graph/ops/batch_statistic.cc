#include "graph/batch_statistic.h"

#include "graph/ir/binary.h"
#include "graph/ir/reduce.h"
#include "graph/ir/shape.h"
#include "graph/ir/state.h"
#include "graph/ir/unary.h"

namespace tandem {
namespace {

// True for the number of examples in the batch, perhaps times the elements of an example: the divisor of ReduceMean.
bool IsCount(mlir::Value value) {
  while (mlir::Operation* op = value.getDefiningOp()) {
    if (auto scalar = mlir::dyn_cast<td::ScalarOp>(op)) return scalar.getName() == "example_count";
    if (!mlir::isa<td::BroadcastOp, td::CastOp, td::MulOp>(op)) return false;
    value = op->getOperand(0);
  }
  return false;
}

}  // namespace

std::string BatchStatistic(const Tensor& x) {
  if (!x.ok()) return "";
  auto value = mlir::Value::getFromOpaquePointer(x.value_);
  while (mlir::Operation* op = value.getDefiningOp()) {
    if (auto quotient = mlir::dyn_cast<td::DivOp>(op)) return IsCount(quotient.getRhs()) ? "mean" : "";
    if (auto reduce = mlir::dyn_cast<td::ReduceOp>(op)) {
      const bool over_batch = td::IsBatched(reduce.getInput().getType()) && !td::IsBatched(reduce.getType());
      const bool sum = reduce.getKind() == td::ReduceKind::kSum;
      if (over_batch) return sum ? "" : td::stringifyReduceKind(reduce.getKind()).str();
    } else if (!mlir::isa<td::BroadcastOp, td::CastOp, td::ReshapeOp, td::NegOp>(op)) {
      return "";
    }
    value = op->getOperand(0);
  }
  return "";
}

}  // namespace tandem
