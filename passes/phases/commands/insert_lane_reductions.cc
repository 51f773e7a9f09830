// td-insert-lane-reductions: inserts the commands that add up the lanes' sums (passes/Passes.td).
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_INSERTLANEREDUCTIONSPASS
#include "passes/passes.h.inc"

namespace {

class InsertLaneReductionsPass : public impl::InsertLaneReductionsPassBase<InsertLaneReductionsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step) return;
    for (auto map : llvm::make_early_inc_range(step.getOps<exec::MapMicrobatchesOp>())) InsertBehind(map);
  }

 private:
  static void InsertBehind(exec::MapMicrobatchesOp map) {
    mlir::OpBuilder builder(map->getContext());
    builder.setInsertionPointAfter(map);
    const llvm::SmallVector<exec::LaneSlotAttr> slots = GetLaneSlots(map);
    llvm::SmallVector<int64_t> out(GetResultBuffers(map).asArrayRef());
    for (exec::ReduceKind kind : {exec::ReduceKind::kSum, exec::ReduceKind::kMax}) {
      llvm::SmallVector<mlir::Value> parts;
      llvm::SmallVector<int64_t> buffers;
      unsigned slot = 0;
      for (mlir::OpResult result : map->getOpResults()) {
        const unsigned i = result.getResultNumber();
        if (map.getCombine(i) == exec::Combine::kKeep) continue;
        const exec::LaneSlotAttr lane = slots[slot++];
        if (lane.getKind() != kind) continue;
        parts.push_back(result);
        buffers.push_back(std::exchange(out[i], lane.getBuffer()));
      }
      if (parts.empty()) continue;
      auto reduce = builder.create<exec::LaneReduceOp>(map.getLoc(), mlir::ValueRange(parts).getTypes(), parts, kind);
      SetResultBuffers(reduce, buffers);
      for (auto [part, whole] : llvm::zip(parts, reduce.getResults())) part.replaceAllUsesExcept(whole, reduce);
    }
    SetResultBuffers(map, out);
  }
};

}  // namespace

}  // namespace tandem
