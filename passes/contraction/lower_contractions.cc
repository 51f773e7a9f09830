// td-lower-contractions: replaces contractions inside the loops over microbatches (maps) by the generated kernels that
// were chosen (passes/Passes.td).
#include "graph/ir/dialect.h"
#include "passes/base/passes.h"
#include "passes/contraction/contractions.h"

namespace tandem {

#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "passes/passes.h.inc"

namespace {

class LowerContractionsPass : public impl::LowerContractionsPassBase<LowerContractionsPass> {
 public:
  void runOnOperation() final {
    if (mlir::failed(CarryOutChoices(getOperation(), Lowering::kInMaps))) signalPassFailure();
  }
};

}  // namespace

}  // namespace tandem
