// td-number-collectives: gives every collective its place in the one order that all replicas follow.
//
// Before: td.all_reduce ops of one step body. After: each has `seq` (0, 1, ... in program order) and `group` (all
// replicas). Bodies of different device classes are made from this one after the numbering, so that the order is equal
// on all ranks by construction.
#include "passes/number_collectives.h"

#include "graph/ir/dist.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class NumberCollectivesPass : public ModulePass<NumberCollectivesPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NumberCollectivesPass)
  static constexpr llvm::StringLiteral kName = "td-number-collectives";
  static constexpr llvm::StringLiteral kDescription = "number the collectives in program order";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    llvm::SmallVector<int64_t> group;
    for (int64_t r = 0; r < ModuleInt(getOperation(), "td.replicas", 1); ++r) group.push_back(r);
    int64_t seq = 0;
    step.walk([&](td::AllReduceOp op) {
      op.setSeq(seq++);
      op.setGroup(group);
    });
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createNumberCollectivesPass() { return std::make_unique<NumberCollectivesPass>(); }

}  // namespace tandem
