// td-insert-all-reduce: makes every value that must agree on all replicas agree.
//
// Before: maps over shards reduce over the lanes of one replica, and td.cross_replica stands where a value of one
// replica becomes one of all. After: with more than one replica, each "global" sum or maximum, of a map or of an op
// that reads all rows of a replica, is followed by a td.all_reduce, and every td.cross_replica is one. Those of
// td.cross_replica wait for the first op that reads one of them, so that they stand side by side for the next pass,
// which makes buckets. With one replica td.cross_replica is its operand.
//
//   %g = td.map_shards ... reduce ["sum"] scope ["global"]      =>   %g = td.map_shards ...
//   use(%g)                                                          %r = td.all_reduce "sum" %g ;  use(%r)
//   %s = td.cross_replica "mean" %m                             =>   %s = td.all_reduce "mean" %m
#include "passes/insert_all_reduce.h"

#include "graph/ir/dist.h"
#include "passes/analysis/batch_axis.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

llvm::StringRef At(mlir::ArrayAttr strings, unsigned i) { return mlir::cast<mlir::StringAttr>(strings[i]).getValue(); }

mlir::Value AllReduce(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef kind, mlir::Value value) {
  return builder
      .create<td::AllReduceOp>(loc, mlir::TypeRange{value.getType()}, mlir::ValueRange{value},
                               builder.getStringAttr(kind), mlir::IntegerAttr(), mlir::IntegerAttr(),
                               mlir::DenseI64ArrayAttr())
      .getResult(0);
}

class InsertAllReducePass : public ModulePass<InsertAllReducePass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertAllReducePass)
  static constexpr llvm::StringLiteral kName = "td-insert-all-reduce";
  static constexpr llvm::StringLiteral kDescription = "combine gradients, losses and statistics over the replicas";

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

std::unique_ptr<mlir::Pass> createInsertAllReducePass() { return std::make_unique<InsertAllReducePass>(); }

}  // namespace tandem
