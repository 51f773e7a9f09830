// td-insert-finite-check: inserts the check that prevents updates in a step whose loss or gradients are not finite
// (passes/Passes.td).
#include "graph/ir/dist.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "graph/ir/unary.h"
#include "graph/parameter_servers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/batch_axis.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_INSERTFINITECHECKPASS
#include "passes/passes.h.inc"

namespace {

// Name of the output that is the loss.
constexpr llvm::StringLiteral kLoss = "loss";

class InsertFiniteCheckPass : public impl::InsertFiniteCheckPassBase<InsertFiniteCheckPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    const llvm::SmallVector<mlir::Value> marked = TakeMarked(step);
    mlir::Operation* terminator = step.getBody().front().getTerminator();
    llvm::DenseSet<mlir::OpOperand*> updates;
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      if (td::UpdateOf(step, operand.getOperandNumber())) updates.insert(&operand);
    }
    // A worker's part of a step (with parameter servers) has no updates. Its values are checked nevertheless, since
    // servers use them in their updates.
    if (updates.empty() && !ConfigOf(getOperation()).getPart()) return;
    llvm::SmallVector<mlir::Value> checked = ValuesToCheck(step, WhatCounts(step));
    for (mlir::Value v : marked) {
      if (v.getDefiningOp() != nullptr && !mlir::isa<td::ConstantOp>(v.getDefiningOp()) &&
          !llvm::is_contained(checked, v))
        checked.push_back(v);
    }
    if (checked.empty()) return;

    // Collects the ops whose results only updates and outputs read. They are moved behind the check.
    llvm::DenseSet<mlir::Operation*> moved;
    llvm::SmallVector<mlir::Operation*> order;
    for (mlir::Operation& op : llvm::reverse(step.getBody().front().without_terminator())) {
      if (mlir::isa<exec::MapMicrobatchesOp>(op)) continue;
      auto is_update = [&](mlir::OpOperand& use) { return updates.contains(&use) || moved.contains(use.getOwner()); };
      bool movable = llvm::all_of(op.getUses(),
                                  [&](mlir::OpOperand& use) { return is_update(use) || use.getOwner() == terminator; });
      bool serves_update = op.use_empty() || llvm::any_of(op.getUses(), is_update);
      auto is_checked = [&](mlir::Value result) { return llvm::is_contained(checked, result); };
      if (!movable || !serves_update || llvm::any_of(op.getResults(), is_checked)) continue;
      moved.insert(&op);
      order.push_back(&op);
    }
    mlir::OpBuilder builder(terminator);
    builder.create<exec::CheckFiniteOp>(step.getLoc(), checked);
    for (mlir::Operation* op : llvm::reverse(order)) op->moveBefore(terminator);
  }

 private:
  // Removes the values of td.check_finite from the results of the step and returns them.
  static llvm::SmallVector<mlir::Value> TakeMarked(mlir::func::FuncOp step) {
    mlir::Operation* terminator = step.getBody().front().getTerminator();
    llvm::SmallVector<mlir::Value> marked;
    llvm::BitVector results(step.getNumResults());
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (!td::IsChecked(step, i)) continue;
      marked.push_back(terminator->getOperand(i));
      results.set(i);
    }
    terminator->eraseOperands(results);
    (void)step.eraseResults(results);
    return marked;
  }

  // Returns the all-reduced value of `value`, or `value` itself if it is not combined. Casts are followed: a replica's
  // part of a gradient may be rounded before it is combined (td-insert-all-reduce).
  static mlir::Value BehindAllReduce(mlir::Value value) {
    for (mlir::OpOperand& use : value.getUses()) {
      if (use.getOwner()->getBlock() != value.getParentBlock()) continue;
      if (auto all_reduce = mlir::dyn_cast<exec::AllReduceOp>(use.getOwner())) {
        return all_reduce.getResult(use.getOperandNumber());
      }
      if (auto cast = mlir::dyn_cast<td::CastOp>(use.getOwner())) {
        if (mlir::Value sum = BehindAllReduce(cast.getResult()); sum != cast.getResult()) return sum;
      }
    }
    return value;
  }

  // Returns all values from which updates, values for parameter servers and the loss are computed. Values that only
  // other outputs depend on are not checked, since outputs are only observed.
  static llvm::DenseSet<mlir::Value> WhatCounts(mlir::func::FuncOp step) {
    llvm::DenseSet<mlir::Value> counts;
    llvm::SmallVector<mlir::Value> open;
    auto add = [&](mlir::Value value) {
      if (counts.insert(value).second) open.push_back(value);
    };
    for (mlir::OpOperand& operand : step.getBody().front().getTerminator()->getOpOperands()) {
      const mlir::StringAttr output = td::OutputOf(step, operand.getOperandNumber());
      if (!output || output.getValue() == kLoss || SentValueOfName(output.str())) add(operand.get());
    }
    while (!open.empty()) {
      const mlir::Value value = open.pop_back_val();
      if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
        auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(argument.getOwner()->getParentOp());
        if (map) add(map->getOperand(argument.getArgNumber()));
        continue;
      }
      const unsigned result = mlir::cast<mlir::OpResult>(value).getResultNumber();
      if (auto map = value.getDefiningOp<exec::MapMicrobatchesOp>()) {
        add(map.getBody().front().getTerminator()->getOperand(result));
      } else if (auto all_reduce = value.getDefiningOp<exec::AllReduceOp>()) {
        add(all_reduce->getOperand(result));
      } else {
        for (mlir::Value operand : value.getDefiningOp()->getOperands()) add(operand);
      }
    }
    return counts;
  }

  // Returns the values to check: those sums over rows among `counts`, computed by maps and by ops that read all rows;
  // if replicas combine a sum, its all-reduced value.
  static llvm::SmallVector<mlir::Value> ValuesToCheck(mlir::func::FuncOp step,
                                                      const llvm::DenseSet<mlir::Value>& counts) {
    llvm::SmallVector<mlir::Value> values;
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      for (mlir::OpResult r : map->getResults()) {
        auto type = mlir::cast<mlir::RankedTensorType>(r.getType());
        if (td::IsBatched(type) || !mlir::isa<mlir::FloatType>(type.getElementType())) continue;
        if (counts.contains(r)) values.push_back(BehindAllReduce(r));
      }
    }
    for (mlir::Operation& op : step.getBody().front()) {
      if (!BatchAxis::ReadsAllRows(&op)) continue;
      for (mlir::Value r : op.getResults()) {
        if (counts.contains(r)) values.push_back(BehindAllReduce(r));
      }
    }
    return values;
  }
};

}  // namespace

}  // namespace tandem
