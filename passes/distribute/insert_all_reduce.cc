// td-insert-all-reduce, as Passes.td describes it.
#include "graph/ir/dist.h"
#include "passes/analysis/batch_axis.h"
#include "passes/exec/dialect.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_INSERTALLREDUCEPASS
#include "passes/passes.h.inc"

namespace {

mlir::Value AllReduce(mlir::OpBuilder& builder, mlir::Location loc, exec::ReduceKind kind, mlir::Value value) {
  return builder
      .create<exec::AllReduceOp>(loc, mlir::TypeRange{value.getType()}, mlir::ValueRange{value},
                                 exec::ReduceKindAttr::get(builder.getContext(), kind), mlir::IntegerAttr(),
                                 mlir::IntegerAttr(), mlir::DenseI64ArrayAttr(), mlir::StringAttr())
      .getResult(0);
}

class InsertAllReducePass : public impl::InsertAllReducePassBase<InsertAllReducePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::OpBuilder builder(step.getContext());
    const bool one = ConfigOf(getOperation()).getReplicas() == 1;
    if (!one) CombineSums(step, builder);
    llvm::SmallVector<exec::AllReduceOp> waiting;
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (llvm::any_of(op.getOperands(), [&](mlir::Value v) {
            return llvm::is_contained(waiting, v.getDefiningOp<exec::AllReduceOp>());
          })) {
        for (exec::AllReduceOp all_reduce : waiting) all_reduce->moveBefore(&op);
        waiting.clear();
      }
      auto cross = mlir::dyn_cast<td::CrossReplicaOp>(op);
      if (!cross) continue;
      builder.setInsertionPoint(cross);
      mlir::Value combined =
          one ? cross.getInput() : AllReduce(builder, cross.getLoc(), KindOf(cross), cross.getInput());
      if (!one) waiting.push_back(combined.getDefiningOp<exec::AllReduceOp>());
      cross.replaceAllUsesWith(combined);
      cross.erase();
    }
  }

 private:
  static exec::ReduceKind KindOf(td::CrossReplicaOp op) {
    return op.getKind() == td::CrossReplicaKind::kMean ? exec::ReduceKind::kMean : exec::ReduceKind::kSum;
  }

  static void CombineSums(mlir::func::FuncOp step, mlir::OpBuilder& builder) {
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      builder.setInsertionPointAfter(map);
      for (unsigned i = 0; i < map.getNumResults(); ++i) {
        mlir::OpResult result = map->getResult(i);
        const exec::Combine combine = map.getCombine(i);
        if (combine == exec::Combine::kKeep || map.getScopeOf(i) != td::BatchScope::kGlobal) continue;
        mlir::Location loc = map.getBody().front().getTerminator()->getOperand(i).getLoc();
        mlir::Value reduced = AllReduce(
            builder, loc, combine == exec::Combine::kMax ? exec::ReduceKind::kMax : exec::ReduceKind::kSum, result);
        result.replaceAllUsesExcept(reduced, reduced.getDefiningOp());
      }
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (!BatchAxis::ReadsAllRows(&op)) continue;
      builder.setInsertionPointAfter(&op);
      for (mlir::Value result : op.getResults()) {
        mlir::Value reduced = AllReduce(builder, op.getLoc(), exec::ReduceKind::kSum, result);
        result.replaceAllUsesExcept(reduced, reduced.getDefiningOp());
      }
    }
  }
};

}  // namespace

}  // namespace tandem
