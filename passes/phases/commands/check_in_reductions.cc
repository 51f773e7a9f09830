// td-check-in-reductions: lets all-reduces look for values that are not finite while they combine them, so that the
// finite check need not (passes/Passes.td).
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_CHECKINREDUCTIONSPASS
#include "passes/passes.h.inc"

namespace {

class CheckInReductionsPass : public impl::CheckInReductionsPassBase<CheckInReductionsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step || ConfigOf(getOperation()).getReplicas() == 1) return;
    for (auto all_reduce : step.getOps<exec::AllReduceOp>()) {
      const auto checked = [](mlir::Value v) {
        return llvm::any_of(v.getUsers(), [](mlir::Operation* user) { return mlir::isa<exec::CheckFiniteOp>(user); });
      };
      if (!all_reduce.getAlgorithm() && llvm::all_of(all_reduce.getResults(), checked)) all_reduce.setChecks(true);
    }
  }
};

}  // namespace

}  // namespace tandem
