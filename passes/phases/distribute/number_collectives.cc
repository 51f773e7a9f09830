// td-number-collectives: numbers the collectives in the order that all replicas follow (passes/Passes.td).
#include "graph/ir/dist.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_NUMBERCOLLECTIVESPASS
#include "passes/passes.h.inc"

namespace {

class NumberCollectivesPass : public impl::NumberCollectivesPassBase<NumberCollectivesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    llvm::SmallVector<int64_t> group;
    const exec::CompileConfigAttr config = ConfigOf(getOperation());
    for (int64_t r = 0; r < config.getReplicas(); ++r) group.push_back(r);
    int64_t seq = 0;
    step.walk([&](exec::AllReduceOp op) {
      op.setSeq(seq++);
      op.setGroup(group);
      if (op.getKind() != exec::ReduceKind::kMax) op.setAlgorithmAttr(config.getCrossDeviceOps());
    });
  }
};

}  // namespace

}  // namespace tandem
