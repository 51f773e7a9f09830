// td-bucket-all-reduce: joins neighbouring all-reduces of one kind and element type to buckets (passes/Passes.td).
#include "graph/ir/dist.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_BUCKETALLREDUCEPASS
#include "passes/passes.h.inc"

namespace {

int64_t Bytes(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  return t.getNumElements() * SizeOf(td::ToDType(t.getElementType()));
}

mlir::Type ElementType(exec::AllReduceOp op) {
  return mlir::cast<mlir::RankedTensorType>(op.getOperand(0).getType()).getElementType();
}

class BucketAllReducePass : public impl::BucketAllReducePassBase<BucketAllReducePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    llvm::SmallVector<exec::AllReduceOp> run;
    llvm::SmallVector<llvm::SmallVector<exec::AllReduceOp>> runs;
    // A run is a sequence of all-reduces with no other op in between. In a run, an all-reduce can depend on another one
    // only through all-reduces of the same run, and Depends looks for that.
    for (mlir::Operation& op : step.getBody().front()) {
      if (auto all_reduce = mlir::dyn_cast<exec::AllReduceOp>(op)) {
        run.push_back(all_reduce);
      } else if (!run.empty()) {
        runs.push_back(std::move(run));
        run.clear();
      }
    }
    for (auto& r : runs) BucketRun(r);
  }

 private:
  struct Bucket {
    llvm::SmallVector<exec::AllReduceOp> members;
    int64_t bytes = 0;
  };

  static bool Depends(exec::AllReduceOp op, const Bucket& bucket) {
    return llvm::any_of(op.getOperands(), [&](mlir::Value v) {
      return llvm::is_contained(bucket.members, v.getDefiningOp<exec::AllReduceOp>());
    });
  }

  void BucketRun(llvm::ArrayRef<exec::AllReduceOp> run) {
    const int64_t limit = ConfigOf(getOperation()).getBucketBytes();
    const int64_t first_limit = ConfigOf(getOperation()).getFirstBucketBytes();
    llvm::SmallVector<Bucket> buckets;
    for (exec::AllReduceOp op : run) {
      int64_t bytes = 0;
      for (mlir::Type t : op.getOperandTypes()) bytes += Bytes(t);
      // The tensor joins the last bucket of its kind and element type if that has room.
      Bucket* home = nullptr;
      for (Bucket& b : buckets) {
        if (b.members[0].getKind() == op.getKind() && ElementType(b.members[0]) == ElementType(op)) home = &b;
      }
      int64_t room =
          home == nullptr ? 0 : (next_bucket_ == 0 && home == &buckets[0] ? first_limit : limit) - home->bytes;
      if (home == nullptr || bytes > room || Depends(op, *home)) home = &buckets.emplace_back();
      home->members.push_back(op);
      home->bytes += bytes;
    }
    for (Bucket& b : buckets) Merge(b);
  }

  void Merge(Bucket& bucket) {
    mlir::OpBuilder builder(bucket.members.back());
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::Location> locations;
    llvm::SmallVector<mlir::Attribute> names;
    for (exec::AllReduceOp m : bucket.members) {
      operands.append(m.getOperands().begin(), m.getOperands().end());
      locations.push_back(m.getLoc());
      if (m.getNamesAttr()) names.append(m.getNamesAttr().begin(), m.getNamesAttr().end());
    }
    const bool all_named = names.size() == operands.size();
    const exec::ReduceKindAttr kind = bucket.members[0].getKindAttr();
    auto merged = builder.create<exec::AllReduceOp>(
        builder.getFusedLoc(locations), mlir::TypeRange(mlir::ValueRange(operands)), operands, kind,
        mlir::IntegerAttr(), builder.getI64IntegerAttr(next_bucket_++), mlir::DenseI64ArrayAttr(), mlir::StringAttr(),
        all_named ? builder.getArrayAttr(names) : mlir::ArrayAttr(), mlir::UnitAttr());
    unsigned next = 0;
    for (exec::AllReduceOp m : bucket.members) {
      for (mlir::Value r : m.getResults()) r.replaceAllUsesWith(merged.getResult(next++));
      m.erase();
    }
  }

  int64_t next_bucket_ = 0;
};

}  // namespace

}  // namespace tandem
