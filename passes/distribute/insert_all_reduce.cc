// td-insert-all-reduce, as Passes.td describes it.
#include "graph/ir/dist.h"
#include "passes/analysis/batch_axis.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {
#define GEN_PASS_DEF_INSERTALLREDUCEPASS
#include "passes/passes.h.inc"

namespace {

llvm::StringRef At(mlir::ArrayAttr strings, unsigned i) { return mlir::cast<mlir::StringAttr>(strings[i]).getValue(); }

mlir::Value AllReduce(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef kind, mlir::Value value) {
  return builder
      .create<td::AllReduceOp>(loc, mlir::TypeRange{value.getType()}, mlir::ValueRange{value},
                               builder.getStringAttr(kind), mlir::IntegerAttr(), mlir::IntegerAttr(),
                               mlir::DenseI64ArrayAttr())
      .getResult(0);
}

class InsertAllReducePass : public impl::InsertAllReducePassBase<InsertAllReducePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::OpBuilder builder(step.getContext());
    const bool one = ModuleInt(getOperation(), "td.replicas", 1) == 1;
    if (!one) CombineSums(step, builder);
    llvm::SmallVector<td::AllReduceOp> waiting;
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (llvm::any_of(op.getOperands(), [&](mlir::Value v) {
            return llvm::is_contained(waiting, v.getDefiningOp<td::AllReduceOp>());
          })) {
        for (td::AllReduceOp all_reduce : waiting) all_reduce->moveBefore(&op);
        waiting.clear();
      }
      auto cross = mlir::dyn_cast<td::CrossReplicaOp>(op);
      if (!cross) continue;
      builder.setInsertionPoint(cross);
      mlir::Value combined =
          one ? cross.getInput() : AllReduce(builder, cross.getLoc(), cross.getKind(), cross.getInput());
      if (!one) waiting.push_back(combined.getDefiningOp<td::AllReduceOp>());
      cross.replaceAllUsesWith(combined);
      cross.erase();
    }
  }

 private:
  static void CombineSums(mlir::func::FuncOp step, mlir::OpBuilder& builder) {
    for (auto map : step.getOps<td::MapShardsOp>()) {
      builder.setInsertionPointAfter(map);
      for (unsigned i = 0; i < map.getNumResults(); ++i) {
        mlir::OpResult result = map->getResult(i);
        if (At(map.getReduce(), i) == "keep" || At(map.getScope(), i) != "global") continue;
        mlir::Location loc = map.getBody().front().getTerminator()->getOperand(i).getLoc();
        mlir::Value reduced = AllReduce(builder, loc, At(map.getReduce(), i), result);
        result.replaceAllUsesExcept(reduced, reduced.getDefiningOp());
      }
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (!BatchAxis::ReadsAllRows(&op)) continue;
      builder.setInsertionPointAfter(&op);
      for (mlir::Value result : op.getResults()) {
        mlir::Value reduced = AllReduce(builder, op.getLoc(), "sum", result);
        result.replaceAllUsesExcept(reduced, reduced.getDefiningOp());
      }
    }
  }
};

}  // namespace
}  // namespace tandem
