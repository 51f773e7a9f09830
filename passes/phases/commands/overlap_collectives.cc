// td-overlap-collectives: lets collectives send values while commands run that do not need them (passes/Passes.td).
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "passes/passes.h.inc"

namespace {

class OverlapCollectivesPass : public impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step || ConfigOf(getOperation()).getReplicas() == 1) return;
    const Places places(getOperation());
    mlir::Block& block = step.getBody().front();
    MoveReaders(places, block);
    const std::vector<mlir::Operation*> commands = CommandsOf(block);
    for (size_t i = 0; i < commands.size(); ++i) {
      if (!Travels(commands[i])) continue;
      size_t end = i + 1;
      bool work = false;
      for (; end < commands.size() && !IsBorder(commands[end]) && !places.Conflict(commands[i], commands[end]); ++end) {
        work |= !mlir::isa<exec::AllReduceOp>(commands[end]) && !GetExecution(commands[end]).run_inline;
      }
      if (!work) continue;
      Execution execution = GetExecution(commands[i]);
      execution.overlap = static_cast<int64_t>(end - i - 1);
      SetExecution(commands[i], execution);
    }
  }

 private:
  static bool Travels(mlir::Operation* op) {
    auto all_reduce = mlir::dyn_cast<exec::AllReduceOp>(op);
    return all_reduce && !all_reduce.getAlgorithm();
  }

  // Moves small commands that read all-reduced values towards the end of the section. The last one is moved first, so
  // that a command which is in the way of another one has moved already.
  static void MoveReaders(const Places& places, mlir::Block& block) {
    const std::vector<mlir::Operation*> commands = CommandsOf(block);
    for (mlir::Operation* op : llvm::reverse(commands)) {
      if (IsSmall(op) && ReadsAllReduce(op)) MoveToCheck(places, op);
    }
  }

  static bool IsSmall(mlir::Operation* op) {
    const Execution execution = GetExecution(op);
    return mlir::isa<exec::LaunchOp>(op) && execution.run_inline && execution.together == 1;
  }

  static bool ReadsAllReduce(mlir::Operation* op) {
    return llvm::any_of(op->getOperands(),
                        [](mlir::Value v) { return v.getDefiningOp<exec::AllReduceOp>() != nullptr; });
  }

  // Moves `op` to just before the next finite check of the section, unless a command in between depends on `op`.
  static void MoveToCheck(const Places& places, mlir::Operation* op) {
    mlir::Operation* next = op->getNextNode();
    for (; next != nullptr && !MayEndStep(next); next = next->getNextNode()) {
      const bool reads =
          llvm::any_of(op->getResults(), [&](mlir::Value v) { return llvm::is_contained(next->getOperands(), v); });
      if (reads || IsBorder(next) || (IsCommand(*next) && places.Conflict(op, next))) return;
    }
    if (next != nullptr) op->moveBefore(next);
  }
};

}  // namespace

}  // namespace tandem
