// td-select-libraries: replaces convolutions and matrix products by library calls, with their epilogues and packed
// weights (passes/Passes.td).
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/contraction/contractions.h"

namespace tandem {

#define GEN_PASS_DEF_SELECTLIBRARIESPASS
#include "passes/passes.h.inc"

namespace {

class SelectLibrariesPass : public impl::SelectLibrariesPassBase<SelectLibrariesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    if (mlir::failed(CarryOutChoices(getOperation(), Lowering::kLibrary))) return signalPassFailure();
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) EraseUnusedOperands(map);
  }
};

}  // namespace

}  // namespace tandem
