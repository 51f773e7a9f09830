// td-insert-all-reduce: inserts all-reduces for values that must be the same on all replicas (passes/Passes.td).
#include "graph/ir/dist.h"
#include "graph/ir/unary.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/batch_axis.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"
#include "passes/phases/distribute/collective_name.h"
#include "passes/phases/distribute/update_flow.h"

namespace tandem {

#define GEN_PASS_DEF_INSERTALLREDUCEPASS
#include "passes/passes.h.inc"

namespace {

// Combines `sent`, which is `part` or a cast of it, over all replicas. `whole` is the value whose uses the result will
// get; it is only used to name the collective.
mlir::Value AllReduce(mlir::OpBuilder& builder, mlir::Location loc, exec::ReduceKind kind, mlir::Value sent,
                      mlir::Value part, mlir::Value whole) {
  return builder
      .create<exec::AllReduceOp>(loc, mlir::TypeRange{sent.getType()}, mlir::ValueRange{sent},
                                 exec::ReduceKindAttr::get(builder.getContext(), kind), mlir::IntegerAttr(),
                                 mlir::IntegerAttr(), mlir::DenseI64ArrayAttr(), mlir::StringAttr(),
                                 builder.getStrArrayAttr({CollectiveName(part, whole)}), mlir::UnitAttr())
      .getResult(0);
}

mlir::Value Cast(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value, mlir::Type element) {
  const mlir::Type type = mlir::cast<mlir::RankedTensorType>(value.getType()).clone(element);
  return builder.create<td::CastOp>(loc, type, value);
}

// One replica's part of a value that all replicas need as a whole.
struct Part {
  mlir::Value value;
  exec::ReduceKind kind;
  mlir::Location loc;
};

class InsertAllReducePass : public impl::InsertAllReducePassBase<InsertAllReducePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::OpBuilder builder(step.getContext());
    const bool one = ConfigOf(getOperation()).getReplicas() == 1;
    if (!one) {
      CombineSums(step, builder);
      MoveToEnd(step);
    }
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
      if (one) {
        td::DropCrossReplica(cross);
        continue;
      }
      builder.setInsertionPoint(cross);
      mlir::Value combined =
          AllReduce(builder, cross.getLoc(), KindOf(cross), cross.getInput(), cross.getInput(), cross.getOutput());
      waiting.push_back(combined.getDefiningOp<exec::AllReduceOp>());
      cross.replaceAllUsesWith(combined);
      cross.erase();
    }
  }

 private:
  // Moves all-reduces whose results only updates and outputs need (a batch statistic for its moving average), and the
  // ops that depend on them, to the end of the step. In the forward pass they would stand between other all-reduces,
  // which are then not bucketed together, and make the next ops wait.
  static void MoveToEnd(mlir::func::FuncOp step) {
    mlir::Block& body = step.getBody().front();
    mlir::Operation* terminator = body.getTerminator();
    llvm::DenseSet<mlir::Operation*> last = {terminator};
    for (mlir::Operation& op : llvm::reverse(body.without_terminator())) {
      const bool movable = !mlir::isa<exec::MapMicrobatchesOp>(op) && !BatchAxis::ReadsAllRows(&op);
      if (movable && llvm::all_of(op.getUsers(), [&](mlir::Operation* user) { return last.contains(user); })) {
        last.insert(&op);
      }
    }
    llvm::SetVector<mlir::Operation*> moved;
    const auto waits = [&](mlir::Operation* op) {
      return llvm::any_of(op->getOperands(), [&](mlir::Value v) { return moved.contains(v.getDefiningOp()); });
    };
    for (mlir::Operation& op : body.without_terminator()) {
      if (last.contains(&op) && (mlir::isa<td::CrossReplicaOp>(op) || waits(&op))) moved.insert(&op);
    }
    // Ops that depend on no other moved all-reduce come first, so that their all-reduces are next to each other.
    llvm::SmallVector<mlir::Operation*> behind;
    for (mlir::Operation* op : moved) {
      if (waits(op)) {
        behind.push_back(op);
      } else {
        op->moveBefore(terminator);
      }
    }
    for (mlir::Operation* op : behind) op->moveBefore(terminator);
  }

  static exec::ReduceKind KindOf(td::CrossReplicaOp op) {
    return op.getKind() == td::CrossReplicaKind::kMean ? exec::ReduceKind::kMean : exec::ReduceKind::kSum;
  }

  void CombineSums(mlir::func::FuncOp step, mlir::OpBuilder& builder) {
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      llvm::SmallVector<Part> parts;
      for (mlir::OpResult result : map->getResults()) {
        const unsigned i = result.getResultNumber();
        const exec::Combine combine = map.getCombine(i);
        if (combine == exec::Combine::kKeep || map.getScopeOf(i) != td::BatchScope::kGlobal) continue;
        parts.push_back({result, combine == exec::Combine::kMax ? exec::ReduceKind::kMax : exec::ReduceKind::kSum,
                         map.getBody().front().getTerminator()->getOperand(i).getLoc()});
      }
      builder.setInsertionPointAfter(map);
      CombineParts(parts, builder);
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) {
      if (!BatchAxis::ReadsAllRows(&op)) continue;
      llvm::SmallVector<Part> parts;
      for (mlir::Value result : op.getResults()) parts.push_back({result, exec::ReduceKind::kSum, op.getLoc()});
      builder.setInsertionPointAfter(&op);
      CombineParts(parts, builder);
    }
  }

  // Combines `parts` over the replicas, and makes all their readers read the combined values. The casts are placed
  // before the first and after the last all-reduce, so that the next pass finds the all-reduces next to each other.
  void CombineParts(llvm::ArrayRef<Part> parts, mlir::OpBuilder& builder) {
    llvm::SmallVector<mlir::Value> sent, whole;
    for (const Part& part : parts) {
      const mlir::Type type = CommunicationType(part);
      sent.push_back(type ? Cast(builder, part.loc, part.value, type) : part.value);
    }
    for (auto [part, value] : llvm::zip(parts, sent)) {
      whole.push_back(AllReduce(builder, part.loc, part.kind, value, part.value, part.value));
    }
    for (auto [part, s, w] : llvm::zip(parts, sent, whole)) {
      mlir::Operation* sender = s == part.value ? w.getDefiningOp() : s.getDefiningOp();
      const mlir::Type element = mlir::cast<mlir::RankedTensorType>(part.value.getType()).getElementType();
      mlir::Value result = s == part.value ? w : Cast(builder, part.loc, w, element);
      mlir::Value(part.value).replaceAllUsesExcept(result, sender);
    }
  }

  // Returns the element type to which `part` is rounded before it is combined; null if it keeps its own.
  mlir::Type CommunicationType(const Part& part) {
    const mlir::Type wanted = ConfigOf(getOperation()).getCommunicationType();
    auto type = mlir::cast<mlir::RankedTensorType>(part.value.getType());
    const bool can = wanted && type.getElementType().isF32() && part.kind == exec::ReduceKind::kSum;
    // Rounding a single number saves nothing, and it may be a count that scales all gradients.
    return can && type.getNumElements() != 1 && UpdateFlowOf(part.value).updates_only ? wanted : mlir::Type();
  }
};

}  // namespace

}  // namespace tandem
