#include "passes/analysis/batch_axis.h"

#include <algorithm>

namespace tandem {
namespace {

bool AnyBatched(mlir::TypeRange types) {
  return llvm::any_of(types, [](mlir::Type t) { return td::IsBatched(t); });
}

}  // namespace

td::BatchRule BatchRuleOf(mlir::Operation* op) {
  auto batch_op = mlir::dyn_cast<td::BatchOp>(op);
  return batch_op ? batch_op.getBatchRule() : td::BatchRule::kMixing;
}

bool BatchAxis::IsMapOp(mlir::Operation* op) const {
  return !ReadsAllRows(op) && (AnyBatched(op->getOperandTypes()) || AnyBatched(op->getResultTypes()));
}

bool BatchAxis::ReadsAllRows(mlir::Operation* op) {
  return AnyBatched(op->getOperandTypes()) && BatchRuleOf(op) == td::BatchRule::kScatter;
}

bool BatchAxis::CreatesBatch(mlir::Operation* op) const {
  return !AnyBatched(op->getOperandTypes()) && AnyBatched(op->getResultTypes());
}

BatchAxis::BatchAxis(mlir::func::FuncOp step) {
  llvm::DenseMap<mlir::Value, int> available;
  for (mlir::Operation& op : step.getBody().front().without_terminator()) {
    int level = 0;
    const bool reads_all_rows = ReadsAllRows(&op);
    for (mlir::Value v : op.getOperands()) {
      level = std::max(level, available.lookup(v) + (reads_all_rows && td::IsBatched(v.getType()) ? 1 : 0));
    }
    levels_[&op] = level;
    bool map_op = IsMapOp(&op);
    if (map_op) {
      num_levels_ = std::max(num_levels_, level + 1);
      if (BatchRuleOf(&op) == td::BatchRule::kMixing && !mixing_op_) mixing_op_ = &op;
    }
    for (mlir::Value v : op.getResults()) available[v] = level + (map_op && !td::IsBatched(v.getType()) ? 1 : 0);
  }
}

}  // namespace tandem
