// td-expand-contractions: carries out the choices for contractions that must be carried out before the loops over
// microbatches (maps) are formed (passes/Passes.td).
#include "graph/ir/dialect.h"
#include "passes/base/passes.h"
#include "passes/contraction/contractions.h"

namespace tandem {

#define GEN_PASS_DEF_EXPANDCONTRACTIONSPASS
#include "passes/passes.h.inc"

namespace {

class ExpandContractionsPass : public impl::ExpandContractionsPassBase<ExpandContractionsPass> {
 public:
  void runOnOperation() final {
    if (mlir::failed(CarryOutChoices(getOperation(), Lowering::kBeforeMaps))) signalPassFailure();
  }
};

}  // namespace

}  // namespace tandem
