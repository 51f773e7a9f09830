// td-schedule: chooses the order of the ops in the body of each loop over microbatches (passes/Passes.td).
#include "graph/ir/dist.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/passes.h.inc"

namespace {

// Bytes of `rows` rows of a batched value, or of the whole of an unbatched one.
int64_t Bytes(mlir::Value v, int64_t rows) {
  return td::IsBatched(v.getType()) ? rows * RowBytes(v.getType()) : StaticBytes(v.getType());
}

class SchedulePass : public impl::SchedulePassBase<SchedulePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) Schedule(map.getBody().front(), map.getMicrobatchRows());
  }

 private:
  static void Schedule(mlir::Block& body, int64_t rows) {
    llvm::DenseMap<mlir::Value, int> uses_left;
    llvm::SmallVector<mlir::Operation*> waiting;
    for (mlir::Operation& op : body.without_terminator()) {
      waiting.push_back(&op);
      for (mlir::Value v : op.getResults()) uses_left[v] = std::distance(v.use_begin(), v.use_end());
    }
    llvm::DenseSet<mlir::Operation*> done;
    auto ready = [&](mlir::Operation* op) {
      return llvm::all_of(op->getOperands(),
                          [&](mlir::Value v) { return !v.getDefiningOp() || done.contains(v.getDefiningOp()); });
    };
    auto cost = [&](mlir::Operation* op) {
      int64_t bytes = 0;
      for (mlir::Value v : op->getResults()) bytes += Bytes(v, rows);
      llvm::DenseMap<mlir::Value, int> used;
      for (mlir::Value v : op->getOperands()) {
        if (v.getDefiningOp() && ++used[v] == uses_left[v]) bytes -= Bytes(v, rows);
      }
      return bytes;
    };
    mlir::Operation* terminator = body.getTerminator();
    while (!waiting.empty()) {
      mlir::Operation** best = nullptr;
      int64_t best_cost = 0;
      for (mlir::Operation*& op : waiting) {
        if (!ready(op)) continue;
        int64_t c = cost(op);
        if (best == nullptr || c < best_cost) best = &op, best_cost = c;
      }
      mlir::Operation* op = *best;
      waiting.erase(best);
      op->moveBefore(terminator);
      done.insert(op);
      for (mlir::Value v : op->getOperands()) --uses_left[v];
    }
  }
};

}  // namespace

}  // namespace tandem
