// td-insert-finite-check: no update of a variable happens in a step whose loss or gradients are not finite.
//
// Before: a step with maps, collectives and updates. After: one td.check_finite over all floating-point sums of the
// maps (losses, gradients), behind the last map and collective that it needs, and every op that serves an update and
// no map stands behind the check. What a map needs too stays before it; td-assign-buffers then writes the variable by a
// copy at the end of the step. Steps that update nothing (evaluation) get no check.
#include "passes/insert_finite_check.h"

#include "graph/ir/dist.h"
#include "graph/ir/structure.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/batch_axis.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class InsertFiniteCheckPass : public ModulePass<InsertFiniteCheckPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertFiniteCheckPass)
  static constexpr llvm::StringLiteral kName = "td-insert-finite-check";
  static constexpr llvm::StringLiteral kDescription = "check losses and gradients before any update";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::Operation* terminator = step.getBody().front().getTerminator();
    llvm::DenseSet<mlir::OpOperand*> updates;
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      if (step.getResultAttr(operand.getOperandNumber(), "td.update")) updates.insert(&operand);
    }
    if (updates.empty()) return;
    llvm::SmallVector<mlir::Value> checked = ValuesToCheck(step);
    if (checked.empty()) return;

    // Ops whose results go into updates and nowhere else but into outputs, in program order.
    llvm::DenseSet<mlir::Operation*> moved;
    llvm::SmallVector<mlir::Operation*> order;
    for (mlir::Operation& op : llvm::reverse(step.getBody().front().without_terminator())) {
      if (mlir::isa<td::MapShardsOp>(op)) continue;
      auto is_update = [&](mlir::OpOperand& use) { return updates.contains(&use) || moved.contains(use.getOwner()); };
      bool movable = llvm::all_of(op.getUses(),
                                  [&](mlir::OpOperand& use) { return is_update(use) || use.getOwner() == terminator; });
      bool serves_update = op.use_empty() || llvm::any_of(op.getUses(), is_update);
      if (!movable || !serves_update ||
          llvm::is_contained(checked, op.getNumResults() ? op.getResult(0) : mlir::Value()))
        continue;
      moved.insert(&op);
      order.push_back(&op);
    }
    mlir::OpBuilder builder(terminator);
    builder.create<td::CheckFiniteOp>(step.getLoc(), checked);
    for (mlir::Operation* op : llvm::reverse(order)) op->moveBefore(terminator);
  }

 private:
  static mlir::Value BehindAllReduce(mlir::Value value) {
    for (mlir::OpOperand& use : value.getUses()) {
      auto all_reduce = mlir::dyn_cast<td::AllReduceOp>(use.getOwner());
      if (all_reduce && all_reduce->getBlock() == value.getParentBlock())
        return all_reduce.getResult(use.getOperandNumber());
    }
    return value;
  }

  // The sums of the maps and of ops that read all rows, behind their all-reduce when there is one.
  static llvm::SmallVector<mlir::Value> ValuesToCheck(mlir::func::FuncOp step) {
    llvm::SmallVector<mlir::Value> values;
    for (auto map : step.getOps<td::MapShardsOp>()) {
      for (mlir::OpResult r : map->getResults()) {
        auto type = mlir::cast<mlir::RankedTensorType>(r.getType());
        if (td::IsBatched(type) || !mlir::isa<mlir::FloatType>(type.getElementType())) continue;
        values.push_back(BehindAllReduce(r));
      }
    }
    for (mlir::Operation& op : step.getBody().front()) {
      if (!BatchAxis::ReadsAllRows(&op)) continue;
      for (mlir::Value r : op.getResults()) values.push_back(BehindAllReduce(r));
    }
    return values;
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createInsertFiniteCheckPass() { return std::make_unique<InsertFiniteCheckPass>(); }

}  // namespace tandem
