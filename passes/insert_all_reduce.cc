// td-insert-all-reduce: makes every value that must agree on all replicas agree.
//
// Before: maps over shards reduce over the lanes of one replica. After: with more than one replica, each "global" sum
// or maximum, of a map or of an op that reads all rows of a replica, is followed by a td.all_reduce, and a variable or
// output that depends on the rows of one replica only (batch-norm statistics) is averaged over the replicas. Each
// tensor has a collective of its own; bucketing comes next.
//
//   %g = td.map_shards ... reduce ["sum"] scope ["global"]      =>   %g = td.map_shards ...
//   use(%g)                                                          %r = td.all_reduce "sum" %g ;  use(%r)
#include "passes/insert_all_reduce.h"

#include "graph/ir/dist.h"
#include "llvm/ADT/DenseSet.h"
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
    if (!step || ModuleInt(getOperation(), "td.replicas", 1) == 1) return;
    mlir::OpBuilder builder(step.getContext());
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
    AverageReplicaValues(step, builder);
  }

 private:
  // Follows what depends on the rows of one replica down to the results of the step.
  void AverageReplicaValues(mlir::func::FuncOp step, mlir::OpBuilder& builder) {
    llvm::DenseSet<mlir::Value> varying;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      auto scalar = step.getArgAttrOfType<mlir::StringAttr>(i, "td.scalar");
      if (scalar && scalar.getValue() == "replica_example_count") varying.insert(step.getArgument(i));
    }
    mlir::Block& body = step.getBody().front();
    for (mlir::Operation& op : body.without_terminator()) {
      if (mlir::isa<td::AllReduceOp>(op)) continue;
      if (auto map = mlir::dyn_cast<td::MapShardsOp>(op)) {
        for (unsigned i = 0; i < map.getNumResults(); ++i) {
          if (At(map.getScope(), i) == "replica") varying.insert(map.getResult(i));
        }
      } else if (llvm::any_of(op.getOperands(), [&](mlir::Value v) { return varying.contains(v); })) {
        varying.insert(op.result_begin(), op.result_end());
      }
    }
    mlir::Operation* terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    for (mlir::OpOperand& operand : terminator->getOpOperands()) {
      mlir::Value v = operand.get();
      if (varying.contains(v) && !td::IsBatched(v.getType())) operand.set(AllReduce(builder, v.getLoc(), "mean", v));
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createInsertAllReducePass() { return std::make_unique<InsertAllReducePass>(); }

}  // namespace tandem
